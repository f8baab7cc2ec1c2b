/** Sorts the lines of a file into heaps, by the conversions recorded now. Reads without the queue's lock, so an act decides again. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { USD } from '../../contract/currencies.ts'
import { dayOf } from '../../contract/days.ts'
import { toWireId } from '../../contract/ids.ts'
import { hasAmount } from '../../contract/revisions.ts'
import type { Config } from '../../ground/config.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import { inDollars } from '../../money/rates/exact.ts'
import { type ForeignMoney, type Rate, readRates, sourceOrder, unknownRate } from '../../money/rates/rate-of-day.ts'
import { BookedRates, type BookedRateRow, READ_BOOKED_RATES } from '../events/booked-rates.ts'
import { countedAmount } from '../events/standing.ts'
import type { NetworkMaps } from '../networks/read-call.ts'
import { HEAPS, type Heap, type ReconciledLine } from './api.ts'
import { type Candidate, type Match, ownConversions, readMatches } from './match.ts'
import type { NetworkLine } from './read-lines.ts'
import type { Database } from '../../ground/db/connect.ts'

/** A line with its heap. `amount_usd` is null without an amount or a rate. `rate` is that of its day, which a new conversion is booked by. */
export type ComparedLine = {
  readonly line: NetworkLine
  readonly heap: Heap
  readonly match: Match
  readonly amount_usd: string | null
  readonly rate: Rate | undefined
  /** US dollars per unit: the rate of the conversion, else that of the day. */
  readonly usd_per_unit: string
  readonly error: string | null
}
export type Comparison = {
  readonly lines: readonly ComparedLine[]
  readonly missing_there: readonly Candidate[]
  readonly heaps: Record<Heap, number>
  readonly totals: { readonly here: string; readonly there: string }
}

export type Compared = {
  readonly org_id: number
  readonly network_id: string
  readonly network: NetworkMaps
  /** First and last moment of the file, Unix ms. */
  readonly from: number | null
  readonly to: number | null
}
type Tools = { readonly database: Pick<Database, 'reads'>; readonly config: Config }

/** Lines whose conversions are read with one statement. */
const PORTION = 2000

/** Half a cent, or half a hundredth of another currency. */
const TOLERANCE = '0.005'

/** Compares all lines with the conversions recorded now. */
export async function compareLines(tools: Tools, file: Compared, lines: readonly NetworkLine[]): Promise<Comparison> {
  const compared: ComparedLine[] = []
  for (let from = 0; from < lines.length; from += PORTION) {
    compared.push(...(await comparePortion(tools, file, lines.slice(from, from + PORTION))))
    await nextTurn()
  }
  const sorted = severalLines(compared)
  const meant = new Map<string, Candidate>()
  for (const { match } of sorted)
    for (const event of match === undefined ? [] : 'event' in match ? [match.event] : match.several)
      meant.set(event.event_id, event)
  const missing_there = await missingThere(tools, file, meant)
  const heaps = Object.fromEntries(HEAPS.map(heap => [heap, 0])) as Record<Heap, number>
  for (const { heap } of sorted) heaps[heap] += 1
  heaps.missing_there = missing_there.length
  const here = [...meant.values(), ...missing_there].reduce((sum, { present }) => sum + countedAmount(present), 0n)
  const there = sorted.reduce((sum, one) => sum + worthOf(one), 0n)
  return { lines: sorted, missing_there, heaps, totals: { here: fromMillionths(here), there: fromMillionths(there) } }
}

const worthOf = ({ line, amount_usd, heap }: ComparedLine): bigint =>
  heap === 'wrong' || line.repeats_line !== null || line.status !== 'approved' ? 0n : toMillionths(amount_usd ?? '0')

async function comparePortion({ database, config }: Tools, file: Compared, lines: readonly NetworkLine[]) {
  const { org_id } = file
  const pool = database.reads
  const matches = await readMatches({ pool, ...file }, lines)
  const foreign = lines.filter(({ amount, currency }) => amount !== null && currency !== null && currency !== USD)
  const days = foreign.map(line => ({ currency: line.currency ?? USD, day: dayOfLine(line) }))
  const rateOf = await readRates({ pool, order: sourceOrder(config) }, org_id, days)
  const events = foreign.flatMap(line => eventOf(matches.get(line))?.event_id ?? [])
  const { rows } =
    events.length === 0 ? { rows: [] } : await pool.query<BookedRateRow>(READ_BOOKED_RATES, [org_id, events])
  const booked = new BookedRates(rows)
  return lines.map(line => {
    const match = matches.get(line)
    const currencyDay = { currency: line.currency ?? USD, day: dayOfLine(line) }
    const rate = rateOf(currencyDay)
    const own = booked.rateOf(eventOf(match)?.event_id ?? '', currencyDay.currency)
    const usd_per_unit = currencyDay.currency === USD ? '1' : (own ?? rate?.usd_per_unit)
    const isUnrated = line.amount !== null && usd_per_unit === undefined
    const amount = isUnpaid(line, file.network) ? '0' : line.amount
    const amount_usd = amount === null || usd_per_unit === undefined ? null : inDollars(amount, usd_per_unit)
    const error =
      line.error ?? (isUnrated ? `${unknownRate(currencyDay).message}: set an own rate in Settings, Rates` : null)
    const priced = { line, match, amount_usd, rate, usd_per_unit: usd_per_unit ?? '1', error }
    return { ...priced, heap: heapOf(priced) }
  })
}

const eventOf = (match: Match): Candidate | undefined =>
  match !== undefined && 'event' in match ? match.event : undefined

/** The UTC day of a line; without a time, today. */
const dayOfLine = ({ at }: NetworkLine): string => dayOf(at ?? Date.now())

/** Whether the network reports the type of the line before it pays it. */
export const isUnpaid = ({ type, is_named, status }: NetworkLine, { unpaid_types }: NetworkMaps): boolean =>
  is_named && type !== null && status === 'approved' && unpaid_types.includes(type)

function heapOf({ line, match, amount_usd, usd_per_unit, error }: Omit<ComparedLine, 'heap'>): Heap {
  if (error !== null) return 'wrong'
  if (line.repeats_line !== null) return 'same'
  if (match === undefined) return 'missing_here'
  if ('several' in match) return 'several'
  const { status, amount } = match.event.present
  if (status !== line.status) return 'other_status'
  if (!hasAmount(status) || amount_usd === null) return 'same'
  const apart = amount - toMillionths(amount_usd)
  const most = toMillionths(inDollars(TOLERANCE, usd_per_unit))
  return apart <= most && apart >= -most ? 'same' : 'other_amount'
}

/** Puts different lines that mean the same conversion into `several`: nobody can tell which of them counts. */
function severalLines(lines: readonly ComparedLine[]): ComparedLine[] {
  const isChosen = ({ heap, line }: ComparedLine) =>
    heap !== 'wrong' && heap !== 'several' && line.repeats_line === null
  const first = new Map<string, ComparedLine>()
  const second = new Map<string, ComparedLine>()
  for (const one of lines) {
    if (!isChosen(one)) continue
    const key = meaningKey(one)
    if (!first.has(key)) first.set(key, one)
    else if (!second.has(key)) second.set(key, one)
  }
  return lines.map(one => {
    if (!isChosen(one)) return one
    const key = meaningKey(one)
    const others = [first.get(key), second.get(key)]
    const other = others.find(another => another !== undefined && another !== one)
    return other === undefined
      ? one
      : { ...one, heap: 'several', error: `line ${other.line.line} names the same conversion` }
  })
}

function meaningKey({ match, line }: ComparedLine): string {
  const event = eventOf(match)
  if (event !== undefined) return event.event_id
  return JSON.stringify([line.click_id ?? line.click_text, line.transaction_id, line.is_named ? line.type : null])
}

/** The network's conversions in the time of the file that no line means. Of moments in seconds, the whole last second counts. */
async function missingThere(
  { database }: Tools,
  { from, to, ...place }: Compared,
  meant: ReadonlyMap<string, Candidate>,
): Promise<Candidate[]> {
  if (from === null || to === null) return []
  const until = to + (to % 1000 === 0 ? 1000 : 1)
  const missing: Candidate[] = []
  for await (const event of ownConversions({ pool: database.reads, ...place }, from, until))
    if (!meant.has(event.event_id)) missing.push(event)
  return missing
}

/** The row of a line, as the API shows it. */
export function rowOfLine({ line, heap, match, amount_usd, error }: ComparedLine): ReconciledLine {
  const event = eventOf(match)
  return {
    line: line.line,
    heap,
    repeats_line: line.repeats_line,
    matched_by: match !== undefined && 'event' in match ? match.by : null,
    click_id: line.click_id === null ? line.click_text : toWireId(line.click_id),
    transaction_id: line.transaction_id,
    event_id: event?.event_id ?? null,
    here: event === undefined ? null : hereOf(event),
    there:
      line.error !== null
        ? null
        : {
            amount: line.amount,
            currency: line.currency,
            amount_usd,
            status: line.status,
            at: line.at === null ? null : new Date(line.at).toISOString(),
          },
    error,
  }
}

/** The row of a conversion that is missing in the file. */
export function rowOfMissing(event: Candidate): ReconciledLine {
  return {
    line: null,
    heap: 'missing_there',
    repeats_line: null,
    matched_by: null,
    click_id: toWireId(event.click_id),
    transaction_id: event.nonce,
    event_id: event.event_id,
    here: hereOf(event),
    there: null,
    error: null,
  }
}

const hereOf = ({ present, at }: Candidate): NonNullable<ReconciledLine['here']> => ({
  amount: fromMillionths(present.amount),
  status: present.status,
  at: new Date(at).toISOString(),
})

/** The payout of a new conversion in its own currency, at the rate of its day. Undefined in dollars. */
export function moneyOf({ line, rate }: ComparedLine): ForeignMoney | undefined {
  if (line.amount === null || line.currency === null || line.currency === USD || rate === undefined) return undefined
  return /[1-9]/.test(line.amount) ? { original_amount: line.amount, currency: line.currency, ...rate } : undefined
}

const QUARTER_MS = 15 * 60_000
const MOST_QUARTERS = 14 * 4
/** Postbacks arrive within a minute of the conversion, and some files have no seconds. */
const JITTER_MS = 60_000

/**
 * The minutes by which the times of all matching lines are ahead of the conversions recorded here, if these are the same whole quarters of an hour for
 * all; else 0. Only lines in `timed` have a time of day.
 */
export async function shiftOf(
  { database }: Tools,
  file: Pick<Compared, 'org_id' | 'network_id'>,
  lines: readonly NetworkLine[],
  timed: ReadonlySet<number>,
): Promise<number> {
  let shift: number | undefined
  const telling = lines.filter(
    ({ line, error, repeats_line }) => timed.has(line) && error === null && repeats_line === null,
  )
  for (let from = 0; from < telling.length; from += PORTION) {
    const matches = await readMatches({ pool: database.reads, ...file }, telling.slice(from, from + PORTION))
    for (const [{ at }, match] of matches) {
      const event = eventOf(match)
      if (event === undefined || at === null) continue
      const apart = at - event.at
      const quarters = Math.round(apart / QUARTER_MS)
      const isWhole = Math.abs(apart - quarters * QUARTER_MS) <= JITTER_MS
      if (!isWhole || Math.abs(quarters) > MOST_QUARTERS || (shift ?? quarters) !== quarters) return 0
      shift = quarters
    }
  }
  return (shift ?? 0) * 15
}
