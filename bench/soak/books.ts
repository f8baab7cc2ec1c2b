// The books at the end of a soak: what the load was told compared with what is stored, the calls of each receiver, and the audits.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openPatientPool } from '../../src/ground/db/nodes.ts'
import { reconcileAll } from '../../src/reading/audit/reconcile.ts'
import { assertBooks } from '../../tests/support/audit.ts'
import type { Errands } from './errands.ts'
import { type IdSum, idSumOf, idSumSql, isSame } from './id-sum.ts'
import { type SoakReceiver, WELL } from './receivers.ts'
import type { Stage } from './stage.ts'
import type { TrafficAnswer } from './traffic.ts'

/** `wrong` is empty if the books are exact; `lines` say what was compared. */
export type Books = { wrong: string[]; lines: string[] }

type Told = Pick<TrafficAnswer, 'clicked' | 'converted'>
/** Clicks wait in the journal, and deliveries for a slow receiver, only for seconds. */
const PATIENCE_MS = 180_000
const LOOK_MS = 500

const WAITING = `select (select count(*)::int from counter_sheet) + (select count(*)::int from report_sheet) as unfolded,
  (select count(*)::int from click_sheet) as unsealed,
  (select count(*)::int from deliveries d join postback_rules r on r.org_id = d.org_id and r.id = d.target_id
    where d.state = 'pending' and exists (select from unnest($1::text[]) o where starts_with(r.url, o))) as deliveries`
type WaitingRow = { unfolded: number; unsealed: number; deliveries: number }

/** Waits until all is stored, folded, sealed and delivered to healthy receivers, and compares. */
export async function closeBooks(stage: Stage, told: Told, errands: Pick<Errands, 'sent' | 'spends'>): Promise<Books> {
  const pool = openPatientPool({ addresses: [stage.ground.connection] })
  try {
    const books: Books = { wrong: [], lines: [] }
    await settle(pool, stage, told, books)
    // So that no call to a stumbling receiver is under way.
    await stage.server.stop()
    await compareStored(pool, stage, told, books)
    for (const receiver of stage.receivers) await compareReceived(pool, receiver, books)
    const { broadcasts, messages, wrong } = errands.sent
    books.lines.push(`${broadcasts} broadcasts with ${messages} messages, each recipient got one of each`)
    books.wrong.push(...wrong)
    await compareSpend(pool, errands.spends, books)
    await audit(pool, books)
    return books
  } finally {
    await pool.end()
  }
}

async function settle(pool: pg.Pool, { receivers }: Stage, { clicked }: Told, books: Books): Promise<void> {
  const origins = receivers.filter(({ name }) => WELL.includes(name)).map(({ origin }) => `${origin}/`)
  const begun = performance.now()
  for (;;) {
    const stored = await pool.query<{ count: number }>('select count(*)::int as count from clicks')
    const { rows } = await pool.query<WaitingRow>(WAITING, [origins])
    const waiting = { clicks: clicked.count - (stored.rows[0]?.count ?? 0), ...rows[0] }
    const left = Object.entries(waiting).filter(([, count]) => count > 0)
    const took_ms = performance.now() - begun
    if (left.length === 0)
      return void books.lines.push(`all stored, folded and sealed ${seconds(took_ms)} after the load`)
    if (took_ms > PATIENCE_MS)
      return void books.wrong.push(`still waiting: ${left.map(([name, count]) => `${count} ${name}`).join(', ')}`)
    await sleep(LOOK_MS)
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

async function compareStored(pool: pg.Pool, { organization }: Stage, told: Told, books: Books): Promise<void> {
  const sumOf = async (column: string, from: string) => {
    const text = `select ${idSumSql(column)} from ${from} where org_id = $1`
    return idSumOf((await pool.query<{ count: number; sum: string }>(text, [organization.org_id])).rows[0])
  }
  const clicks = await sumOf('id', 'clicks')
  const events = await sumOf('id', 'events')
  const charges = await sumOf('event_id', `(select * from ledger where kind = 'charge') charges`)
  requireSame(books, 'clicks answered with 302', told.clicked, 'clicks stored', clicks)
  requireSame(books, 'conversions answered with 201', told.converted, 'conversions stored', events)
  requireSame(books, 'conversions answered with 201', told.converted, 'charges', charges)
}

export function requireSame(books: Books, told: string, one: IdSum, stored: string, other: IdSum): void {
  const line = `${one.count} ${told}, ${other.count} ${stored}`
  if (isSame(one, other)) books.lines.push(`${line}: the same`)
  else books.wrong.push(`${line}${one.count === other.count ? ', but not the same ones' : ''}`)
}

type ReceivedRow = { count: number; sum: string; pending: number; failed: number }

async function compareReceived(
  pool: pg.Pool,
  { name, origin, called, taken }: SoakReceiver,
  books: Books,
): Promise<void> {
  const deliveries = `deliveries d join postback_rules r on r.org_id = d.org_id and r.id = d.target_id where starts_with(r.url, $1)`
  const { rows } = await pool.query<ReceivedRow>(
    `select d.*, (select count(*)::int from ${deliveries} and d.state = 'pending') as pending,
      (select count(*)::int from ${deliveries} and d.state not in ('pending', 'delivered')) as failed
    from (select ${idSumSql('d.click_id')} from ${deliveries} and d.state = 'delivered') d`,
    [`${origin}/`],
  )
  const [row] = rows
  const delivered = idSumOf(row)
  books.lines.push(
    `${name} receiver: ${called.count} calls, ${taken.count} of them answered with 200; ${delivered.count} delivered, ${row?.pending} waiting, ${row?.failed} given up`,
  )
  if (WELL.includes(name)) requireSame(books, `calls of the ${name} receiver`, called, 'delivered', delivered)
  requireSame(books, `calls that the ${name} receiver took`, taken, 'delivered', delivered)
}

async function compareSpend(pool: pg.Pool, { asked, account }: Errands['spends'], books: Books): Promise<void> {
  const spend = await pool.query<{ amount: string; rows: number }>(
    `select coalesce(sum(amount), 0)::text as amount, count(*)::int as rows from booked_spend where origin like 'account:%'`,
  )
  const rates = await pool.query<{ count: number }>('select count(*)::int as count from fx_rates')
  const { amount, rows } = spend.rows[0] ?? { amount: '0', rows: 0 }
  books.lines.push(
    `the ad account was read ${asked} times: ${amount} US dollars in ${rows} rows; ${rates.rows[0]?.count} currency rates`,
  )
  if (Number(amount) === 0 || account['fault'] !== null)
    books.wrong.push(`the ad account is not read: ${JSON.stringify(account['fault'])}`)
}

/** The same as `npm run reconcile`, and the audit of the fault tests, which shares no code with it. */
async function audit(pool: pg.Pool, books: Books): Promise<void> {
  const told: string[] = []
  const wrong = await reconcileAll(pool, line => told.push(line))
  if (wrong > 0) books.wrong.push(...told)
  else books.lines.push(...told)
  try {
    await assertBooks(pool)
    books.lines.push('the audit of the fault tests finds nothing')
  } catch (error) {
    books.wrong.push(error instanceof Error ? error.message : String(error))
  }
}
