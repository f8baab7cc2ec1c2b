// Visits and conversions of pages under faults: after kills in the middle of mixed calls, each token is one click, each conversion is one, and the books hold.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { toUuid } from '../../src/contract/ids.ts'
import { assertBooks } from '../support/audit.ts'
import { eventually } from '../support/eventually.ts'
import { type FaultGround, faultGround, IS_LONG } from '../support/fault-ground.ts'
import type { Target } from '../support/load.ts'
import { pageToken } from '../support/pages.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import type { Sluice } from '../support/sluice.ts'
import { BROWSER } from '../support/visits.ts'

const CALLS = IS_LONG ? 10_000 : 200
const KILLS = IS_LONG ? 12 : 2
const VISITORS_AT_ONCE = 8
/** Until a call that met a dead process is tried again. */
const AGAIN_MS = 100
const SITE = 'https://shop.example'

let postgres: TestPostgres
let ground: FaultGround
const processes: Sluice[] = []
before(async () => {
  postgres = await startTestPostgres()
  ground = await faultGround(postgres.database, postgres.url, 2)
  await postgres.database.worker.query(`update campaigns set sites = '{shop.example}'`)
  for (const number of [0, 1]) processes.push(await start(number))
})
after(async () => {
  await ground.end()
  await postgres.end()
})

// Each visitor has an address of their own, because visits and conversions of one address are limited.
const start = (number: number) => ground.start(number, { TRUST_PROXY: '127.0.0.1' })

type PageCall = { method?: string; body?: string; headers?: Record<string, string> }

let calls = 0
/** Sends a call to one of the processes. Undefined if the process died before it answered, or could not store anything at that moment. */
async function send(visitor: number, path: string, init: PageCall = {}): Promise<Response | undefined> {
  calls += 1
  const { address } = processes[Math.floor(Math.random() * processes.length)] ?? assert.fail()
  const from = `11.${(visitor >> 16) % 256}.${(visitor >> 8) % 256}.${visitor % 256}`
  const headers = { ...BROWSER, 'x-forwarded-for': from, origin: SITE, ...init.headers }
  const answer = await fetch(`${address}${path}`, { redirect: 'manual', ...init, headers }).catch(() => undefined)
  if (answer !== undefined && answer.status < 500) return answer
  await sleep(AGAIN_MS)
  return undefined
}

/** What was acknowledged: the click ids of each visit, and the conversions by "click nonce". */
type Acknowledged = { readonly visits: Set<string>[]; readonly events: Map<string, Set<string>> }

const jsonOf = (answer: Response | undefined) =>
  answer?.json().then(
    body => body as Record<string, unknown>,
    () => undefined,
  )

/** One visitor's mixed calls. The same call may be sent again to any process, as a browser does after a fault. */
async function visit(target: Target, visitor: number, { visits, events }: Acknowledged): Promise<void> {
  const { campaign: key } = target
  const ids = new Set<string>()
  visits.push(ids)
  const hasRedirect = visitor % 3 === 0
  const query = `sub1=page&cost=0.013${hasRedirect ? `&gclid=g${visitor}` : ''}`
  const t = pageToken()
  const redirect = async () => {
    const answer = await send(visitor, `/c/${key}?${query}`)
    const id = URL.parse(answer?.headers.get('location') ?? '')?.searchParams.get('c')
    if (id) ids.add(id)
  }
  const report = async () => {
    const body = JSON.stringify({ t, u: `${SITE}/?${query}` })
    const answer = await send(visitor, `/v/${key}`, { method: 'POST', body })
    const id = (await jsonOf(answer))?.['click_id']
    if (typeof id === 'string') ids.add(id)
  }
  if (hasRedirect && visitor % 2 === 0) await redirect()
  await Promise.all([report(), report()])
  if (visitor % 5 === 0) await send(visitor, `/o/v/${t}?k=${key}&u=${encodeURIComponent(`${SITE}/?${query}`)}`)
  while (ids.size === 0) await report()
  if (hasRedirect && visitor % 2 === 1) await redirect()
  const [click = ''] = ids
  if (visitor % 4 === 0) await convert(target, visitor, click, events)
}

async function convert(target: Target, visitor: number, click: string, events: Acknowledged['events']): Promise<void> {
  const nonce = `n${visitor}`
  const body = JSON.stringify({ type: 'lead', nonce, value: 5, currency: 'USD' })
  const held = async () => (await jsonOf(await send(visitor, `/k/${click}`, { method: 'POST', body })))?.['status']
  while ((await held()) === undefined);
  const known = new Set<string>()
  events.set(`${click} ${nonce}`, known)
  if (visitor % 8 !== 0) return
  const confirmed = JSON.stringify({ clickId: click, type: 'lead', nonce })
  while (known.size === 0) {
    const headers = { 'x-api-key': target.key, 'content-type': 'application/json' }
    const answer = await send(visitor, '/api/events', { method: 'POST', headers, body: confirmed })
    const id = (await jsonOf(answer))?.['id']
    if (typeof id === 'string') known.add(id)
  }
}

test(`${KILLS} kills and a crash of PostgreSQL in ${CALLS.toLocaleString('en-US')} mixed calls of pages: everything acknowledged is there once`, async t => {
  const acknowledged: Acknowledged = { visits: [], events: new Map() }
  let visitor = 0
  let isOver = false
  const senders = Array.from({ length: VISITORS_AT_ONCE }, async () => {
    while (calls < CALLS || !isOver) {
      visitor += 1
      await visit(ground.targets[visitor % 2] ?? assert.fail(), visitor, acknowledged)
    }
  })
  for (let kills = 0; kills < KILLS; kills += 1) {
    const due = ((kills + 0.5) * CALLS) / KILLS
    while (calls < due) await sleep(5)
    if (kills === 0) postgres.crash()
    await processes[kills % 2]?.kill()
    processes[kills % 2] = await start(kills % 2)
  }
  isOver = true
  await Promise.all(senders)
  await assertOnce(acknowledged)
  await eventually('the counters are folded and the books hold', () =>
    assertBooks(postgres.database.reads).then(
      () => true,
      () => false,
    ),
  )
  await assertBooks(postgres.database.reads)
  t.diagnostic(`${calls} calls of ${visitor} visitors, ${acknowledged.events.size} conversions`)
})

async function assertOnce({ visits, events }: Acknowledged): Promise<void> {
  const { reads } = postgres.database
  const resolved = async () => {
    const { rows } = await reads.query<{ id: string; click_id: string }>(
      'select id, id as click_id from clicks union all select id, click_id from click_aliases',
    )
    return new Map(rows.map(({ id, click_id }) => [id, click_id]))
  }
  const uuids = visits.map(ids => [...ids].map(id => toUuid(id) ?? assert.fail(id)))
  await eventually('every acknowledged visit is stored', async () => {
    const known = await resolved()
    return uuids.flat().every(id => known.has(id))
  })
  const known = await resolved()
  for (const ids of uuids)
    assert.equal(new Set(ids.map(id => known.get(id))).size, 1, `one visit is several clicks: ${ids.join(', ')}`)
  const { rows: tokens } = await reads.query('select token from page_visits group by org_id, token having count(*) > 1')
  assert.deepEqual(tokens, [])
  const { rows } = await reads.query<{ id: string; click_id: string; nonce: string; is_held: boolean }>(
    `select id, click_id, nonce, confirmed_at = 'infinity' as is_held from events where type = 'lead'`,
  )
  assert.equal(rows.length, events.size)
  for (const [name, ids] of events) {
    const [click = '', nonce] = name.split(' ')
    const own = rows.filter(row => row.nonce === nonce)
    assert.equal(own.length, 1, name)
    assert.equal(own[0]?.click_id, known.get(toUuid(click) ?? ''), name)
    assert.equal(own[0]?.is_held, ids.size === 0, name)
    for (const id of ids) assert.equal(own[0]?.id, toUuid(id))
  }
}
