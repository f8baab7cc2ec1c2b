import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { listen } from './listen.ts'

const { database } = await useDatabase()

/** The server processes of this database’s listening connections. */
async function listeningProcesses(): Promise<number[]> {
  const { rows } = await database.worker.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and application_name = 'sluice listen'`,
  )
  return rows.map(({ pid }) => pid)
}

const notify = (channel: string, payload: string) =>
  database.worker.query('select pg_notify($1, $2)', [channel, payload])

/** Listens to `channel`, and keeps what it heard. */
async function hear(channel: string) {
  const heard: string[] = []
  const listening = await listen(database, channel, {
    onNotify: payload => heard.push(payload),
    onReconnect: () => heard.push('reconnected'),
  })
  return { heard, close: () => listening.close() }
}

test('all channels share one connection, which is replaced when it is lost, and closed with the last of them', async () => {
  const [offers, domains, alsoDomains] = await Promise.all([
    hear('test_offers'),
    hear('test_domains'),
    hear('test_domains'),
  ])
  const [first, ...others] = await listeningProcesses()
  assert.ok(first)
  assert.deepEqual(others, [])

  await notify('test_offers', 'an offer')
  await notify('test_domains', 'a domain')
  await eventually(
    'both channels are heard',
    () => offers.heard.length + domains.heard.length + alsoDomains.heard.length >= 3,
  )
  assert.deepEqual([offers.heard, domains.heard, alsoDomains.heard], [['an offer'], ['a domain'], ['a domain']])

  await database.worker.query('select pg_terminate_backend($1)', [first])
  await eventually('each listener is told of the loss', () =>
    [offers, domains].every(({ heard }) => heard[1] === 'reconnected'),
  )
  assert.equal((await listeningProcesses()).length, 1)
  await alsoDomains.close()
  await notify('test_domains', 'another domain')
  await notify('test_offers', 'another offer')
  await eventually('both channels are heard again', () => offers.heard.length === 3 && domains.heard.length === 3)
  assert.deepEqual(offers.heard, ['an offer', 'reconnected', 'another offer'])
  assert.deepEqual(domains.heard, ['a domain', 'reconnected', 'another domain'])
  assert.deepEqual(alsoDomains.heard, ['a domain', 'reconnected'])

  await Promise.all([offers.close(), domains.close()])
  await eventually('no connection is left', async () => (await listeningProcesses()).length === 0)
  const later = await hear('test_offers')
  await notify('test_offers', 'a late offer')
  await eventually('a later listener is heard', () => later.heard.length > 0)
  assert.deepEqual(later.heard, ['a late offer'])
  await later.close()
})
