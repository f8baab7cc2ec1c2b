// A very large broadcast: prepared fast, without more memory, and its lists are as fast as those of a small one.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type BotGround, botGround } from '../support/bots.ts'
import { broadcasting } from '../support/broadcasts.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

const RECIPIENTS = 1_000_000
/** The limits apply on an otherwise idle machine. */
const skip = process.env['SLUICE_TEST_ALL'] === '1' ? false : 'it takes minutes: see npm run test:all'
const SECRET = 'a secret that only tests know'
const PREPARED_MS = 60_000
const GROWN_MB = 50
const PAGE_MS = 50

let fresh: FreshDatabase
let ground: BotGround
let at: ReturnType<typeof broadcasting>
before(async () => {
  if (skip !== false) return
  fresh = await freshDatabase()
  ground = await botGround({ ROLE: 'serve', SECRET }, {}, fresh.database)
  at = broadcasting(ground)
})
after(async () => {
  if (skip !== false) return
  await ground.end()
  await fresh.drop()
})

const residentMb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** The median of some calls, in ms, because one call may meet a busy machine. */
async function timeOf(url: string): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < 9; n += 1) {
    const began = performance.now()
    const reply = await ground.call('GET', url)
    times.push(performance.now() - began)
    assert.equal(reply.statusCode, 200)
  }
  return times.toSorted((a, b) => a - b)[4] ?? Number.NaN
}

test('a million recipients are prepared within a minute, without more memory', { skip }, async t => {
  const bot = await at.bot()
  // Ids in the order of time, like real ones. A tenth at a time, because a statement may take half a minute.
  for (let first = 1; first <= RECIPIENTS; first += RECIPIENTS / 10)
    await fresh.database.worker.query(
      `insert into subscribers (org_id, bot_id, telegram_user_id, id, state, state_at, source, created_at, started_at)
     select $1, $2, (100000000 + n)::text, ('01900000-' || lpad(to_hex(n / 65536), 4, '0') || '-7' || lpad(to_hex(n % 4096), 3, '0') || '-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
       'reachable', now(), 'start', now(), now()
     from generate_series($3::int, $4::int) as n`,
      [bot.org_id, bot.uuid, first, first + RECIPIENTS / 10 - 1],
    )
  const hour = (ahead: number) => `${String((new Date().getUTCHours() + ahead) % 24).padStart(2, '0')}:00`
  const window = { from: hour(2), to: hour(3), time_zone: 'UTC' }
  const id = await at.started(bot, RECIPIENTS, { window })
  const settings = { SECRET, TELEGRAM_API_ROOT: ground.telegram.origin }
  const script = join(import.meta.dirname, '../support/broadcast-sender.ts')
  const child = spawn(process.execPath, [script, ...[fresh.connection, settings, {}].map(one => JSON.stringify(one))], {
    stdio: 'inherit',
  })
  try {
    const pid = child.pid ?? assert.fail()
    await eventually('it has begun', async () => (await at.read(id)).recipients > 0)
    const began = performance.now()
    const early = residentMb(pid)
    let most = early
    await eventually('all have a row', async () => {
      most = Math.max(most, residentMb(pid))
      return (await at.read(id)).state === 'sending'
    })
    const took = performance.now() - began
    assert.equal((await at.read(id)).recipients, RECIPIENTS)
    const url = `/api/broadcasts/${id}/sends?state=queued`
    const pages = {
      list: await timeOf('/api/broadcasts'),
      one: await timeOf(`/api/broadcasts/${id}`),
      first: await timeOf(url),
    }
    const middle = (await ground.call('GET', `${url}&limit=200`)).json<{ next_cursor: string }>().next_cursor
    const deep = await timeOf(`${url}&cursor=${middle}`)
    t.diagnostic(
      `${RECIPIENTS} in ${(took / 1000).toFixed(1)} s, +${(most - early).toFixed(0)} MB, pages ${JSON.stringify({ ...pages, deep })}`,
    )
    assert.ok(took < PREPARED_MS, `${took} ms`)
    assert.ok(most - early < GROWN_MB, `${early} MB, then ${most}`)
    for (const ms of [...Object.values(pages), deep]) assert.ok(ms < PAGE_MS, `a page took ${ms} ms`)
  } finally {
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
  }
})
