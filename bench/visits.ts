// Visits that pages report, compared with redirects of the same server by processor time: a visit's request has a body and its answer one too.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Child, startLoad } from './children.ts'
import { perSecond } from './clicks.ts'
import type { Measured } from './load.ts'
import type { Organization } from './organizations.ts'
import type { Plan } from './plan.ts'
import { medianSpent, perOne, processorSpent, type Spent, spentText, totalOf } from './processor.ts'
import { median, ratiosOf } from './ratio.ts'
import type { Recipe } from './requests.ts'
import { type Finding, finding } from './rows.ts'

const CONNECTIONS = 64
/** The site of all pages of the load. */
const SITE = 'shop.example'
/** Servers read changed campaigns within a second. */
const SEEN_MS = 3000

type Window = Measured & { readonly spent: Spent }
type VisitTools = { load: Awaited<ReturnType<typeof startLoad>>; pool: pg.Pool; dataDir: string }

export async function measureVisits(
  { load, pool, dataDir }: VisitTools,
  server: Child,
  { org_id, campaignKeys }: Organization,
  { rounds, seconds, warmSeconds }: Plan,
): Promise<Finding[]> {
  await pool.query('update campaigns set sites = $2, updated_at = now() where org_id = $1', [org_id, [SITE]])
  await sleep(SEEN_MS)
  const measure = async (kind: 'redirects' | 'visits', duration: number): Promise<Window> => {
    const recipe: Recipe = { kind, campaignKeys }
    const before = processorSpent(server.pid, dataDir)
    const measured = await load.ask({ port: server.port, connections: CONNECTIONS, seconds: duration, recipe })
    if (measured.statuses[kind === 'visits' ? 200 : 302] !== measured.answered)
      throw new Error(
        `not every one of the ${kind} was counted: ${JSON.stringify(measured.statuses)} ${measured.sample}`,
      )
    return { ...measured, spent: perOne(before, processorSpent(server.pid, dataDir), measured.answered) }
  }
  for (const kind of ['redirects', 'visits'] as const) await measure(kind, warmSeconds)
  const windows = { redirects: [] as Window[], visits: [] as Window[] }
  for (let round = 0; round < rounds; round += 1)
    for (const kind of round % 2 === 0 ? (['redirects', 'visits'] as const) : (['visits', 'redirects'] as const))
      windows[kind].push(await measure(kind, seconds))
  const costs = (kind: keyof typeof windows) => windows[kind].map(({ spent }) => totalOf(spent))
  const line = (kind: keyof typeof windows, one: string) => {
    const spent = medianSpent(windows[kind].map(window => window.spent))
    return `${perSecond(median(windows[kind].map(({ per_second }) => per_second)))}, ${spentText(spent, one)}`
  }
  return [
    finding('visit_ratio', ratiosOf(costs('visits'), costs('redirects')), [
      `processor time; ${line('visits', 'visit')}`,
      `reference: ${line('redirects', 'redirect')}`,
    ]),
  ]
}
