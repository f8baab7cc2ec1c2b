import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { sql } from 'kysely'
import { startAcmeStub } from '../../../tests/support/acme-stub.ts'
import { freshDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { freePort } from '../../../tests/support/ports.ts'
import { startSluice } from '../../../tests/support/sluice.ts'
import { shake } from '../../../tests/support/street.ts'

let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

test('an order whose process was killed is made anew by another one when its lease is over, and that certificate alone is in service', async () => {
  const [http_port, https_port] = [await freePort(), await freePort()]
  const stub = await startAcmeStub(() => http_port)
  ends.push(() => stub.close())
  const fresh = await freshDatabase()
  ends.push(() => fresh.drop())
  const env = {
    DATABASE_URL: fresh.url,
    SECRET: 'a secret that only tests know',
    TLS: 'auto',
    BASE_URL: 'https://main.test',
    TLS_HOST: '127.0.0.1',
    HTTP_PORT: String(http_port),
    HTTPS_PORT: String(https_port),
    ACME_DIRECTORY: stub.directory,
  }
  let finish = () => {}
  stub.behaviour.beforeFinalize = () => new Promise(resolve => (finish = resolve))
  const killed = await startSluice(env)
  ends.push(() => killed.kill())
  await eventually('its order is with the authority', () => stub.orders[0]?.status === 'processing')
  await killed.kill()

  stub.behaviour.beforeFinalize = async () => {}
  const other = await startSluice(env)
  ends.push(() => other.stop())
  const { kysely: db } = fresh.database
  const { rows: held } =
    await sql`select 1 from certificates where leased_until > now() + interval '5 minutes'`.execute(db)
  assert.equal(held.length, 1, 'the lease of the dead holds')
  assert.equal(stub.orders.length, 1)
  await sql`update certificates set leased_until = now() - interval '1 second'`.execute(db)
  finish()
  await eventually('it is in service', () =>
    shake(https_port, { name: 'main.test', root: stub.authority.root }).then(
      ({ trusted }) => trusted,
      () => false,
    ),
  )
  assert.deepEqual(
    stub.orders.map(({ status }) => status),
    ['valid', 'valid'],
  )
  const { rows } = await sql<{ chain: string }>`select chain from certificates`.execute(db)
  assert.deepEqual(
    rows.map(({ chain }) => chain),
    [stub.orders[1]?.chain],
  )
  const left = async () => (await sql<{ token: string }>`select token from acme_challenges`.execute(db)).rows
  await eventually('its own is gone', async () => (await left()).length === 1)
  assert.equal((await left())[0]?.token, stub.orders[0]?.token, 'what the dead has left behind goes when it expires')
})
