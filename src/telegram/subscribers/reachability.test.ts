// Reachability from Telegram's refusals, and that older reports do not undo newer ones.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { freshDatabase } from '../../../tests/support/database.ts'
import { newId } from '../../contract/ids.ts'
import type { Message } from '../../contract/telegram-message.ts'
import { markSubscriber, recordActivity, recordReachability, optOut, reachabilityAfter } from './reachability.ts'

let fresh: Awaited<ReturnType<typeof freshDatabase>>
before(async () => {
  fresh = await freshDatabase()
})
after(() => fresh.drop())

const refused = (description: string, message: Message = { text: 'Hello' }) =>
  reachabilityAfter({ ok: false, kind: 'refused', description }, message)

test('a refusal means blocked, gone or unreachable, and nothing about the person if the message is at fault', () => {
  assert.equal(refused('Forbidden: bot was blocked by the user'), 'blocked')
  assert.equal(refused('Forbidden: user is deactivated'), 'gone')
  assert.equal(refused("Forbidden: bot can't initiate conversation with a user"), 'unreachable')
  assert.equal(refused('Bad Request: chat not found'), 'unreachable')
  assert.equal(refused('Bad Request: message is too long'), undefined)
  const lost = { ok: false, kind: 'unknown', description: 'Forbidden: user is deactivated' } as const
  assert.equal(reachabilityAfter(lost, { text: 'Hello' }), undefined)
})

test('for a copy, chat not found means the source chat', () => {
  const message: Message = { copy: { chat_id: -1001, message_id: 7 } }
  assert.equal(refused('Bad Request: chat not found', message), undefined)
  assert.equal(refused('Bad Request: message to copy not found', message), undefined)
  assert.equal(refused('Forbidden: bot was blocked by the user', message), 'blocked')
  assert.equal(refused("Forbidden: bot can't initiate conversation with a user", message), 'unreachable')
})

test('an update in the same second as our own time counts, though Telegram reports whole seconds', async () => {
  const db = fresh.database.kysely
  const person = { org_id: 1, bot_id: newId(), telegram_user_id: '78' }
  const [second, within] = ['2026-01-01T00:00:10.000Z', '2026-01-01T00:00:10.700Z']
  const row = async () =>
    await db
      .selectFrom('subscribers')
      .select(['state', 'opted_out_at', 'name'])
      .where('bot_id', '=', person.bot_id)
      .executeTakeFirstOrThrow()
  const start = { ...person, at: second, source: 'start', is_start: true } as const
  await recordActivity(db, { ...start, name: 'Ann' })
  await optOut(db, person, within)
  assert.notEqual((await row()).opted_out_at, null)
  await recordActivity(db, start)
  assert.equal((await row()).opted_out_at, null, 'the start did not bring them back')
  await markSubscriber(db, { ...person, state: 'blocked', at: within })
  assert.equal((await row()).state, 'blocked')
  await recordReachability(db, { ...person, state: 'reachable', at: second })
  assert.equal((await row()).state, 'reachable')
})

test('a name stays if none is reported, the newest one counts, and it is erased if the bot keeps no names', async () => {
  const db = fresh.database.kysely
  const person = { org_id: 1, bot_id: newId(), telegram_user_id: '79', source: 'message' } as const
  const nameAfter = async (second: number, name?: string | null) => {
    const at = `2026-01-01T00:00:${second}.000Z`
    await recordActivity(db, { ...person, at, ...(name === undefined ? {} : { name }) })
    return (await db.selectFrom('subscribers').select('name').where('bot_id', '=', person.bot_id).executeTakeFirst())
      ?.name
  }
  assert.equal(await nameAfter(20, 'Ann'), 'Ann')
  assert.equal(await nameAfter(25), 'Ann')
  assert.equal(await nameAfter(21, 'Old'), 'Ann')
  assert.equal(await nameAfter(25, 'Anna'), 'Anna')
  assert.equal(await nameAfter(22, null), null)
})

test('a state is recorded by its time, only in its own bot and organization', async () => {
  const db = fresh.database.kysely
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()
  const bot_id = newId()
  const row = { telegram_user_id: '77', state: 'reachable', state_at: at(5), source: 'start', created_at: at(0) }
  const rows = [
    { ...row, org_id: 1, bot_id, id: newId() },
    { ...row, org_id: 1, bot_id: newId(), id: newId() },
    { ...row, org_id: 2, bot_id, id: newId() },
  ]
  for (const one of rows) await db.insertInto('subscribers').values(one).execute()
  const mark = (state: 'blocked' | 'gone', minute: number) =>
    recordReachability(db, { org_id: 1, bot_id, telegram_user_id: '77', state, at: at(minute) })
  await mark('blocked', 4)
  const states = async () => {
    const found = await db.selectFrom('subscribers').select(['id', 'state']).execute()
    return rows.map(({ id }) => found.find(one => one.id === id)?.state)
  }
  assert.deepEqual(await states(), ['reachable', 'reachable', 'reachable'])
  await mark('gone', 6)
  await mark('blocked', 5)
  assert.deepEqual(await states(), ['gone', 'reachable', 'reachable'])
})
