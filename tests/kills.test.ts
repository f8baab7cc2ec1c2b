import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { toUuid } from '../src/contract/ids.ts'
import { assertBooks, assertStored } from './support/audit.ts'
import { freshDatabase, type FreshDatabase } from './support/database.ts'
import { seedPlace } from './support/place.ts'
import { type Sluice, startSluice } from './support/sluice.ts'

const ORGANIZATIONS = 8
const SECONDS = process.env['SLUICE_TEST_ALL'] ? 60 : 8
const KILL_EVERY_MS = 1500

let fresh: FreshDatabase
let folder: string
const servers: Sluice[] = []
const places: { key: string; campaign: string }[] = []

const start = (number: number) =>
  startSluice({
    DATABASE_URL: fresh.url,
    DATA_DIR: join(folder, String(number)),
    SECRET: 'the same in both processes',
    LOG_LEVEL: 'silent',
  })

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-kills-'))
  fresh = await freshDatabase()
  for (let n = 0; n < ORGANIZATIONS; n += 1) places.push(await seedPlace(fresh.database, `kills-${n}`))
  servers.push(await start(0), await start(1))
})
after(async () => {
  await Promise.all(servers.map(server => server.stop()))
  await fresh.drop()
  rmSync(folder, { recursive: true, force: true })
})

const anyServer = () => servers[Math.floor(Math.random() * servers.length)]?.address ?? assert.fail()

async function click(campaign: string): Promise<string | undefined> {
  try {
    const answer = await fetch(`${anyServer()}/c/${campaign}?sub1=kill`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(6000),
    })
    const id = URL.parse(answer.headers.get('location') ?? '')?.searchParams.get('c')
    return id ? id : undefined
  } catch {
    return undefined
  }
}

/** The event's id when it was acknowledged, 'refused' when it was not recorded, undefined when nobody knows. */
async function report(key: string, body: object): Promise<string | undefined> {
  try {
    const answer = await fetch(`${anyServer()}/api/events`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(6000),
    })
    if (answer.status === 201) return ((await answer.json()) as { id: string }).id
    return answer.status === 429 || answer.status === 503
      ? 'refused'
      : `unexpected ${answer.status} ${await answer.text()}`
  } catch {
    return undefined
  }
}

type Journal = { clicks: Set<string>; events: Set<string>; unexpected: string[]; unknown: number }

/** One sender: a click, a conversion for it; every other conversion is sent again until it has an answer, the rest once. */
async function send(until: number, place: { key: string; campaign: string }, journal: Journal): Promise<void> {
  for (let turn = 0; performance.now() < until; turn += 1) {
    const clickId = await click(place.campaign)
    if (clickId === undefined) continue
    journal.clicks.add(toUuid(clickId) ?? assert.fail(clickId))
    const types = ['ftd', 'lead', 'deposit', 'registration']
    const body = { clickId, type: types[turn % 4], nonce: `n${turn}`, payload: { telegram_user_id: 1 + (turn % 50) } }
    let answer = await report(place.key, body)
    while (turn % 2 === 0 && (answer === undefined || answer === 'refused') && performance.now() < until + 5000)
      answer = await report(place.key, body)
    if (answer === undefined) journal.unknown += 1
    else if (answer.startsWith('unexpected')) journal.unexpected.push(answer)
    else if (answer !== 'refused') journal.events.add(toUuid(answer) ?? assert.fail(answer))
  }
}

test('two processes killed again and again under load lose nothing they acknowledged and do nothing twice', async () => {
  const journal: Journal = { clicks: new Set(), events: new Set(), unexpected: [], unknown: 0 }
  const until = performance.now() + SECONDS * 1000
  const senders = Promise.all(
    Array.from({ length: 24 }, (_, n) => send(until, places[n % ORGANIZATIONS] ?? assert.fail(), journal)),
  )
  for (let turn = 0; performance.now() < until - KILL_EVERY_MS; turn += 1) {
    await sleep(KILL_EVERY_MS)
    await servers[turn % 2]?.kill()
    servers[turn % 2] = await start(turn % 2)
  }
  await senders
  assert.deepEqual(journal.unexpected, [])
  assert.ok(
    journal.clicks.size > 100 && journal.events.size > 100,
    `${journal.clicks.size} clicks, ${journal.events.size} events`,
  )
  await assertStored(fresh.database.reads, 'clicks', journal.clicks)
  await assertStored(fresh.database.reads, 'events', journal.events)
  await assertBooks(fresh.database.reads)
})

test('one conversion sent 200 times at once to two processes is one event, one charge, one set of deliveries', async () => {
  const place = places[0] ?? assert.fail()
  const clickId = (await click(place.campaign)) ?? assert.fail()
  for (let round = 0; round < 5; round += 1) {
    const body = { clickId, type: 'ftd', nonce: `round ${round}`, payload: { telegram_user_id: `race ${round}` } }
    const answers = await Promise.all(Array.from({ length: 200 }, () => report(place.key, body)))
    assert.equal(new Set(answers).size, 1, String([...new Set(answers)]))
    const id = toUuid(String(answers[0]))
    const { rows } = await fresh.database.reads.query(
      `select (select count(*) from events where id = $1) as events, (select count(*) from ledger where event_id = $1) as charges,
        (select count(*) from deliveries where event_id = $1) as deliveries`,
      [id],
    )
    assert.deepEqual(rows, [{ events: '1', charges: '1', deliveries: '1' }])
  }
  await assertBooks(fresh.database.reads)
})
