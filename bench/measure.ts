// The whole bench: fills the stock of clicks, measures one part after another, and removes everything.
import { measureBroadcasts } from './broadcasts.ts'
import { type Child, startLoad, startPlain, startServer } from './children.ts'
import { measureClicks } from './clicks.ts'
import { type Fresh, measureConversions } from './conversions.ts'
import { type Explored, measureExplore } from './explore.ts'
import { EXPLORED, fillExplored } from './explore-stock.ts'
import { type BenchGround, openGround } from './ground.ts'
import { measureHttps } from './https.ts'
import { measureMemory } from './memory.ts'
import { remarkOnNeighbours } from './neighbours.ts'
import { leadIntoChannel } from './channel-stock.ts'
import { CAMPAIGNS, createOrganization, createOwner, OFFERS, type Organization } from './organizations.ts'
import type { Part, Plan } from './plan.ts'
import { measureFeed, measureReport } from './readings.ts'
import { checkReports } from './recounting.ts'
import type { Finding } from './rows.ts'
import { measureStarts } from './starts.ts'
import { DAYS, fillClicks, mintClicks, settleStock } from './stock.ts'
import { measureTools } from './tools.ts'
import { measureVisits } from './visits.ts'
import { openScan, type Scan } from './yardsticks.ts'

/** `quiet` has no clicks. */
type Stock = Record<'large' | 'small' | 'quiet' | 'costing' | 'channel', Organization> & {
  fresh: Fresh
  now: number
  explored?: Explored
}
type Tell = (line: string) => void

/**
 * Measures the parts of the plan and reports progress to `tell`, and the rows of each part to `show`. It uses its own data folder and removes it.
 * @throws if something could not be measured. A missed budget is a result, not an error.
 */
export async function runBench(
  plan: Plan,
  tell: Tell,
  show: (rows: readonly Finding[]) => void = () => {},
): Promise<Finding[]> {
  await using open = new AsyncDisposableStack()
  const ground = await openGround(plan.profileDir)
  open.defer(() => ground.close())
  const findings: Finding[] = []
  const found = (rows: readonly Finding[]) => {
    findings.push(...rows)
    show(rows)
  }
  await measureServed(ground, plan, tell, found)
  if (plan.parts.has('broadcast')) {
    tell(`measuring broadcast${await remarkOnNeighbours()}`)
    found(await measureBroadcasts(ground, plan))
  }
  if (!plan.parts.has('start')) return findings
  await ground.rest()
  tell(`measuring start${await remarkOnNeighbours()}`)
  found(await measureStarts(ground.dataDir, plan))
  return findings
}

/** The parts that share a server. Conversions end their server. */
const APART = [['report', 'feed'], ['explore'], ['mcp'], ['click'], ['visit'], ['conversion'], ['memory']] as const
const TOGETHER = [['report', 'feed', 'explore', 'mcp', 'click', 'visit', 'memory', 'conversion']] as const

/** All measurements of a running server. */
async function measureServed(
  ground: BenchGround,
  plan: Plan,
  tell: Tell,
  found: (rows: readonly Finding[]) => void,
): Promise<void> {
  await using open = new AsyncDisposableStack()
  const bare = await startServer('bare.ts')
  open.defer(() => bare.stop())
  const load = await startLoad()
  open.defer(() => load.stop())
  const plain = await startPlain()
  open.defer(() => plain.stop())
  const stock = await fillStock(ground, bare, plan, tell)
  const pool = ground.database.worker
  let opened: Scan | undefined
  open.defer(() => opened?.close())
  const scanning = async (): Promise<Scan> => (opened ??= await openScan(ground.connection))
  const measures: Record<Exclude<Part, 'start' | 'broadcast'>, (server: Child) => Promise<Finding[]>> = {
    report: async server => {
      const findings = await measureReport(await scanning(), server, stock, plan)
      await checkReports(ground, server, stock.large, stock.now)
      return findings
    },
    feed: server => measureFeed(server, stock, plan),
    explore: async server => {
      if (stock.explored === undefined) throw new Error('there are no clicks to explore')
      return measureExplore(await scanning(), ground, server, stock.explored, { ...plan, now: stock.now })
    },
    click: async server => {
      const findings = await measureClicks({ load, bare, pool, dataDir: ground.dataDir }, server, stock, plan)
      const [redirect, ...others] = findings
      if (redirect === undefined) return findings
      const https = await measureHttps(load, ground, stock.large, plan)
      return [{ ...redirect, beside: [...redirect.beside, ...https] }, ...others]
    },
    visit: server => measureVisits({ load, pool, dataDir: ground.dataDir }, server, stock.large, plan),
    conversion: server => {
      const tools = { load, plain, connection: ground.connection, pool, dataDir: ground.dataDir }
      return measureConversions(tools, { server, serveOnly: () => ground.serve('serve') }, stock.fresh, plan)
    },
    mcp: server => measureTools(load, server, stock.quiet, plan),
    memory: server => measureMemory(load, server, stock.large, plan),
  }
  for (const group of plan.apart ? APART : TOGETHER) {
    const parts = group.filter(part => plan.parts.has(part))
    if (parts.length === 0) continue
    const remark = await remarkOnNeighbours()
    const server = await ground.serve()
    try {
      for (const part of parts) {
        tell(`measuring ${part}${remark}`)
        found(await measures[part](server))
      }
    } finally {
      await server.stop()
    }
  }
}

/** Fills the stock that the parts need. */
async function fillStock(ground: BenchGround, bare: Child, { parts, ...plan }: Plan, tell: Tell): Promise<Stock> {
  const started = performance.now()
  const owner = await createOwner(ground)
  const postback = `http://127.0.0.1:${bare.port}/postback`
  const wide = { campaigns: CAMPAIGNS, offers: OFFERS, postback }
  const large = await createOrganization(ground, owner, wide)
  const small = await createOrganization(ground, owner, wide)
  const costing = await createOrganization(ground, owner, { ...wide, cost: '0.012' })
  const channel = await createOrganization(ground, owner, wide)
  if (parts.has('click')) await leadIntoChannel(ground, channel, plan.channelLinks)
  const quiet = await createOrganization(ground, owner, { postback })
  const now = Date.now()
  if (parts.has('report') || parts.has('feed') || parts.has('start')) {
    tell(
      `inserting ${plan.clicks.toLocaleString('en-US')} clicks of ${DAYS} days, and a tenth of that for the small organization`,
    )
    await fillClicks(ground, large, Math.round(plan.clicks / DAYS), now)
    await fillClicks(ground, small, Math.round(plan.clicks / DAYS / 10), now)
  }
  const explored = parts.has('explore') ? await fillExploredStock(ground, postback, plan, now, tell) : undefined
  const fresh: Fresh = { many: [], few: [] }
  if (parts.has('conversion')) {
    for (const kind of ['many', 'few'] as const) {
      const count = plan[kind]
      const organizations: Organization[] = []
      while (organizations.length < count) organizations.push(await createOrganization(ground, owner, { postback }))
      fresh[kind] = await mintClicks(ground, organizations, plan.conversions, now)
    }
  }
  tell(`folding the counters, after ${seconds(started)}`)
  await settleStock(ground)
  tell(`the clicks are ready, after ${seconds(started)}`)
  return { large, small, quiet, costing, channel, fresh, now, ...(explored && { explored }) }
}

/** With a separate owner, because a session acts in the first organization of its person. */
async function fillExploredStock(
  ground: BenchGround,
  postback: string,
  plan: Pick<Plan, 'clicks' | 'exploredDays'>,
  now: number,
  tell: Tell,
): Promise<Explored> {
  tell(`inserting ${plan.clicks.toLocaleString('en-US')} clicks to explore, and sealing them`)
  const user_id = await createOwner(ground, 'explorer@example.com')
  const organization = await createOrganization(ground, user_id, { ...EXPLORED, postback })
  return { organization, user_id, sealed: await fillExplored(ground, organization, plan, now) }
}

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`
