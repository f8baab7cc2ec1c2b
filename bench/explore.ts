// Explore over HTTP with a session: twenty typical questions, compared with plain SQL over the clicks in the same run.
import { createHmac, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { Client } from 'undici'
import { DAY_MS } from '../src/contract/days.ts'
import { firstIdAt, newId } from '../src/contract/ids.ts'
import type { Child } from './children.ts'
import { ms } from './clicks.ts'
import { diskText } from './disk.ts'
import { type BenchQuestion, questionsOn } from './explore-questions.ts'
import type { Sealed } from './explore-stock.ts'
import type { BenchGround } from './ground.ts'
import type { Organization } from './organizations.ts'
import type { Plan } from './plan.ts'
import { median, percentile, ratiosOf } from './ratio.ts'
import { type Finding, finding, findingOf } from './rows.ts'
import { type Scan, scanText } from './yardsticks.ts'

export type Explored = { readonly organization: Organization; readonly user_id: string; readonly sealed: Sealed }
/** The longest wait for an answer. The first question copies all days before it answers. */
const COPYING_MS = 15 * 60_000

type Totals = { readonly clicks: number; readonly revenue: string }

/** The duration of answers, compared with plain SQL, and the memory of the scanning process. */
export async function measureExplore(
  { scan }: Scan,
  ground: BenchGround,
  server: Child,
  { organization, user_id, sealed }: Explored,
  { now, rounds }: Pick<Plan, 'rounds'> & { now: number },
): Promise<Finding[]> {
  const to = now - (now % DAY_MS) - 1
  const asked = questionsOn(organization.campaigns, { to, days: sealed.days })
  const client = new Client(`http://127.0.0.1:${server.port}`, { headersTimeout: COPYING_MS, bodyTimeout: COPYING_MS })
  const cookie = await signIn(ground, user_id)
  const origin = `http://127.0.0.1:${server.port}`
  const took = asked.map((): number[] => [])
  const plain: number[] = []
  const scans: number[] = []
  let first_ms: number | undefined
  // Without Sluice's own timeouts, because plain SQL over ten million clicks may take longer.
  const person = new pg.Client(ground.connection)
  await person.connect()
  try {
    // The first round fills the local copy.
    for (let round = 0; round <= rounds; round += 1) {
      if (round > 0) scans.push(await scan())
      for (const [at, { asked: one, from }] of asked.entries()) {
        const answer = await ask(client, { cookie, origin }, one)
        if (round > 0) took[at]?.push(answer.took)
        else first_ms ??= answer.took
        if (round !== 1) continue
        const counted = await count(person, organization.org_id, one, { from, to })
        plain.push(counted.took)
        requireAlike(one.name, answer.totals, counted.totals)
      }
    }
  } finally {
    await client.close()
    await person.end()
  }
  const all = took.flat()
  const inRounds = scans.map((_, round) => took.map(times => times[round] ?? Number.NaN))
  const usual = took.map(median)
  const slowest = usual.indexOf(Math.max(...usual))
  const memory = Math.max(...childrenOf(server.pid).map(peakMb))
  return [
    findingOf('explore_p50_ms', median(all), ratiosOf(inRounds.map(median), scans), scanText(scans), [
      `twenty questions ${rounds} times over ${sealed.clicks.toLocaleString('en-US')} clicks of ${sealed.days} days, with ${sealed.booked.toLocaleString('en-US')} booked amounts and the profit of each row`,
      `the first question of all, which copies ${sealed.days} days: ${ms(first_ms ?? Number.NaN)}`,
    ]),
    findingOf('explore_p95_ms', percentile(all, 0.95), ratiosOf(inRounds.map(p95), scans), scanText(scans), [
      `the slowest, ${asked[slowest]?.asked.name ?? ''}, p50 ${ms(usual[slowest] ?? Number.NaN)}`,
    ]),
    finding('explore_pg_ratio', ratiosOf(plain, usual).median, [
      `reference: plain SQL over the clicks, p50 ${ms(median(plain))}, the slowest ${ms(Math.max(...plain))}; the totals of all twenty agree`,
    ]),
    finding('explore_memory_mb', memory, [
      'the peak of the scanning process',
      await diskText(ground.database.worker, ground.dataDir),
    ]),
    sealingFinding(sealed),
  ]
}

function sealingFinding(sealed: Sealed): Finding {
  return findingOf('explore_sealing_us', (sealed.wall_ms * 1000) / sealed.clicks, sealed.ratio, sealed.yardstick, [
    `per click, with its later changes; ${((sealed.cpu_ms * 1000) / sealed.clicks).toFixed(1)} us of it are processor time of this process, the rest waits for the database`,
    `${((sealed.merging_ms * 1000) / sealed.clicks).toFixed(1)} us more for merging the segments; ${ms(sealed.rebuilding_ms)} to rebuild a day of ${Math.round(sealed.clicks / sealed.days).toLocaleString('en-US')} clicks`,
  ])
}

const p95 = (times: readonly number[]): number => percentile(times, 0.95)

async function ask(
  client: Client,
  { cookie, origin }: { cookie: string; origin: string },
  { name, question }: BenchQuestion,
) {
  const started = performance.now()
  const answer = await client.request({
    method: 'POST',
    path: '/api/explore',
    headers: { cookie, origin, 'content-type': 'application/json' },
    body: JSON.stringify(question),
  })
  const text = await answer.body.text()
  const took = performance.now() - started
  if (answer.statusCode !== 200) throw new Error(`${name} answered ${answer.statusCode}: ${text.slice(0, 300)}`)
  const { totals, incomplete_days } = JSON.parse(text) as { totals: Totals; incomplete_days: string[] }
  if (incomplete_days.length > 0) throw new Error(`${name} is without ${incomplete_days.length} days`)
  return { took, totals }
}

/** The same question in plain SQL. */
async function count(
  client: pg.Client,
  org_id: number,
  { sql }: BenchQuestion,
  { from, to }: { from: number; to: number },
) {
  const started = performance.now()
  const { rows } = await client.query<{ all_clicks: string; all_revenue: string | null }>(sql, [
    org_id,
    firstIdAt(from),
    firstIdAt(to + 1),
  ])
  const took = performance.now() - started
  return { took, totals: { clicks: Number(rows[0]?.all_clicks ?? 0), revenue: rows[0]?.all_revenue ?? '0' } }
}

function requireAlike(name: string, told: Totals, counted: Totals): void {
  if (told.clicks !== counted.clicks || Number(told.revenue) !== Number(counted.revenue))
    throw new Error(
      `${name} says ${told.clicks} clicks and ${told.revenue}, the clicks ${counted.clicks} and ${counted.revenue}`,
    )
}

/** A session of the person. Returns the cookie to send. */
export async function signIn({ database, secrets }: BenchGround, user_id: string): Promise<string> {
  const token = randomBytes(16).toString('hex')
  const now = new Date().toISOString()
  const times = { created_at: now, updated_at: now, expires_at: new Date(Date.now() + DAY_MS).toISOString() }
  await database.kysely
    .insertInto('sessions')
    .values({ id: newId(), user_id, token, ...times })
    .execute()
  const secret = secrets.mac('sign-in', 'cookies').toString('base64url')
  const signature = createHmac('sha256', secret).update(token).digest('base64')
  return `sluice.session_token=${encodeURIComponent(`${token}.${signature}`)}`
}

/** The child processes of a process. */
function childrenOf(pid: number): number[] {
  const found = readdirSync(`/proc/${pid}/task`).flatMap(task =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  if (found.length === 0) throw new Error('the process that scans has ended')
  return found
}

function peakMb(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}
