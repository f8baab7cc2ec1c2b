// Conversions through the door (a key read from the database, a new event, a charge and one rule), compared with plain inserts.
import type pg from 'pg'
import type { Child, startLoad, startPlain } from './children.ts'
import { ms, perSecond } from './clicks.ts'
import type { Measured } from './load.ts'
import type { Plan } from './plan.ts'
import type { Conversion } from './requests.ts'
import { medianSpent, perOne, processorSpent, type Spent, spentText } from './processor.ts'
import { median, type Ratio, ratiosOf } from './ratio.ts'
import { type Finding, finding } from './rows.ts'

const CONNECTIONS = 64
const PLAIN_CONNECTIONS = 16

type ConversionTools = {
  load: Awaited<ReturnType<typeof startLoad>>
  plain: Awaited<ReturnType<typeof startPlain>>
  connection: pg.ClientConfig
  pool: pg.Pool
  dataDir: string
}
/** Fresh clicks, each for one conversion with a charge. */
export type Fresh = { many: Conversion[]; few: Conversion[] }

const NONCE = 'bench'

/** `spent`: the median processor time per new conversion. */
type Rounds = { found: Record<keyof Fresh | 'replayed', Measured[]>; yardstick: number[]; spent: Spent }

/**
 * Measures a server with all roles, which also delivers and folds, and then one that only serves (`ROLE=serve`, another
 * process delivers). The first is the result; the second shows the share of the deliveries.
 */
export async function measureConversions(
  tools: ConversionTools,
  { server, serveOnly }: { server: Child; serveOnly: () => Promise<Child> },
  fresh: Fresh,
  plan: Plan,
): Promise<Finding[]> {
  const portion = (part: number) => ({
    many: fresh.many.splice(0, Math.floor(fresh.many.length * part)),
    few: fresh.few.splice(0, Math.floor(fresh.few.length * part)),
  })
  const whole = await runRounds(tools, server, portion(0.7), plan)
  await server.stop()
  const intake = await serveOnly()
  try {
    const alone = await runRounds(tools, intake, portion(1), { ...plan, rounds: Math.ceil(plan.rounds / 3) })
    return judgeConversions(whole, alone, plan)
  } finally {
    await intake.stop()
  }
}

async function runRounds(
  { load, plain, connection, pool, dataDir }: ConversionTools,
  server: Child,
  fresh: Fresh,
  { rounds, seconds, warmSeconds }: Plan,
): Promise<Rounds> {
  const post = async (list: Conversion[], seconds: number): Promise<Measured> => {
    const recipe = { kind: 'conversions', list, nonce: NONCE } as const
    const measured = await load.ask({ port: server.port, connections: CONNECTIONS, seconds, recipe })
    if (measured.statuses[201] !== measured.answered)
      throw new Error(`not every conversion was recorded: ${JSON.stringify(measured.statuses)} ${measured.sample}`)
    return measured
  }
  const take = (kind: keyof Fresh, part: number) => fresh[kind].splice(0, Math.floor(fresh[kind].length * part))
  const found: Rounds['found'] = { many: [], few: [], replayed: [] }
  const yardstick: number[] = []
  let recorded = 0
  const spent: Spent[] = []
  const first = await countEvents(pool)
  for (const kind of ['many', 'few'] as const) recorded += (await post(take(kind, 0.1), warmSeconds)).answered
  for (let round = 0; round < rounds; round += 1) {
    // Stopped, so that its deliveries and folding do not slow down the reference.
    server.signal('SIGSTOP')
    yardstick.push((await plain.ask({ connection, connections: PLAIN_CONNECTIONS, seconds })).per_second)
    server.signal('SIGCONT')
    for (const kind of ['many', 'few'] as const) {
      const list = take(kind, 1 / (rounds - round))
      const before = processorSpent(server.pid, dataDir)
      const measured = await post(list, seconds)
      spent.push(perOne(before, processorSpent(server.pid, dataDir), measured.answered))
      found[kind].push(measured)
      recorded += measured.answered
      if (kind === 'many') found.replayed.push(await post(list.slice(0, measured.answered), seconds))
    }
  }
  const stored = (await countEvents(pool)) - first
  if (stored !== recorded) throw new Error(`${recorded} new conversions were answered, ${stored} are stored`)
  return { found, yardstick, spent: medianSpent(spent) }
}

const rateOf = (measured: readonly Measured[]): number => median(measured.map(({ per_second }) => per_second))

const ratioTo = ({ found, yardstick }: Rounds, kind: keyof Fresh): Ratio =>
  ratiosOf(
    found[kind].map(({ per_second }) => per_second),
    yardstick,
  )

function judgeConversions(whole: Rounds, alone: Rounds, { many, few }: Plan): Finding[] {
  const { found, yardstick } = whole
  const line = (measured: readonly Measured[]) =>
    `${perSecond(rateOf(measured))}, p50 ${ms(median(measured.map(({ p50 }) => p50)))}, p99 ${ms(median(measured.map(({ p99 }) => p99)))}`
  const ratio = { many: ratioTo(whole, 'many'), few: ratioTo(whole, 'few') }
  const replay = ratiosOf(
    found.replayed.map(({ per_second }) => per_second),
    found.many.map(({ per_second }) => per_second),
  )
  return [
    finding('conversion_ratio', ratio.many.median < ratio.few.median ? ratio.many : ratio.few, [
      `the worse of two; reference: ${perSecond(median(yardstick))} plain inserts of 24 columns, each its own commit, ${PLAIN_CONNECTIONS} connections`,
      `${ratio.many.median.toFixed(3)} x for ${many} organizations: ${line(found.many)}, ${CONNECTIONS} connections`,
      `${ratio.few.median.toFixed(3)} x for ${few}: ${line(found.few)}`,
      `${spentText(whole.spent, 'conversion')}, with its deliveries`,
      `while another process delivers: ${ratioTo(alone, 'many').median.toFixed(3)} x, ${perSecond(rateOf(alone.found.many))}, and ${ratioTo(alone, 'few').median.toFixed(3)} x, ${perSecond(rateOf(alone.found.few))}`,
    ]),
    finding('replay_ratio', replay, [`replayed ${line(found.replayed)}, compared with the new ones of the ${many}`]),
  ]
}

async function countEvents(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>('select count(*)::int as count from events')
  return rows[0]?.count ?? 0
}
