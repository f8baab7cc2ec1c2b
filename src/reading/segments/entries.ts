/**
 * Entries of sheets: the new clicks and the changes that transactions appended to `click_sheet`, and the facts that they add. States that a click had only
 * between entries that are read together cancel before facts are made of them.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { timeOfId } from '../../contract/ids.ts'
import { CLICKED } from '../../contract/ladder.ts'
import { type ClickState, CLICK_STATE_FIELDS } from '../../intake/counters/click-sheet.ts'
import { toMillionths } from '../../money/billing/money.ts'
import { type FactRow, type FixedClick, factOf, inOrder, signed, type VisitorHash, visitorHashIn } from './facts.ts'

/** The state of a new click, or that of a click before and after a change. */
type Change = NewState | (ClickState & StateBefore)
type NewState = ClickState & { readonly was_stages: null }
type StateBefore = { readonly was_stages: number } & {
  readonly [name in Exclude<keyof ClickState, 'stages'> as `was_${name}`]: ClickState[name] | null
}
/** An entry of a sheet. */
export type SheetEntry = { readonly id: string } & Change

/** The entries of sheets: the ids of usual new clicks, separated by commas, and all others. */
export type SheetEntries = { readonly born: string | null; readonly entries: readonly SheetEntry[] | null }

/** SQL of the entries in the rows `from` of `click_sheet`. */
export const entriesOf = (from: string) => `
  select b as id, ${CLICK_STATE_FIELDS.map(name => `${OF_BORN[name] ?? NONE[name]} as ${name}, ${NONE[name]} as was_${name}`).join(', ')},
    null::text as conversions, null::text as was_conversions
  from ${from}, unnest(born) as b
  union all ${otherEntriesOf(from)}`

/** SQL of the entries in the rows `from` of `click_sheet` that are no usual new clicks. */
export const otherEntriesOf = (from: string) => `
  select b.id, ${CLICK_STATE_FIELDS.map(name => `${name === 'tracked' || name === 'bot_id' ? `b.${name}` : (OF_BORN[name] ?? NONE[name])} as ${name}, ${NONE[name]} as was_${name}`).join(', ')},
    null::text as conversions, null::text as was_conversions
  from ${from}, unnest(born_otherwise) as b
  union all
  select c.id, ${CLICK_STATE_FIELDS.map(name => `c.${name}${AS_TEXT[name] ?? ''}, c.was_${name}${AS_TEXT[name] ?? ''}`).join(', ')},
    c.conversions, c.was_conversions
  from ${from}, unnest(changes, conversions_were, conversions) as c (id, ${CLICK_STATE_FIELDS.map(name => `was_${name}, ${name}`).join(', ')}, was_conversions, conversions)`

const OF_BORN: Partial<Record<keyof ClickState, string>> = { stages: `${CLICKED}::smallint`, tracked: 'true' }
const NONE: Record<(typeof CLICK_STATE_FIELDS)[number], string> = {
  stages: 'null::smallint',
  tracked: 'null::boolean',
  bot_id: 'null::uuid',
  revenue: 'null::text',
  cost_counts: 'null::boolean',
  approved: 'null::integer',
  pending: 'null::integer',
  rejected: 'null::integer',
  revenue_pending: 'null::text',
}
/** Amounts are read as text, because JSON has no exact decimals. */
const AS_TEXT: Partial<Record<keyof ClickState, string>> = { revenue: '::text', revenue_pending: '::text' }

/** The entry of a usual new click. */
const USUAL: NewState = {
  stages: CLICKED,
  tracked: true,
  bot_id: null,
  revenue: null,
  cost_counts: null,
  approved: null,
  pending: null,
  rejected: null,
  revenue_pending: null,
  conversions: null,
  was_stages: null,
}

/** The entries by click. */
export function entriesByClick({ born, entries }: SheetEntries): Map<string, readonly Change[]> {
  const known = new Map<string, Change[]>()
  for (const id of born === null ? [] : born.split(',')) known.set(id, [USUAL])
  for (const entry of entries ?? []) {
    const own = known.get(entry.id)
    if (own === undefined) known.set(entry.id, [entry])
    else own.push(entry)
  }
  return known
}

/** A state that is added (1) or taken out (-1). */
type SignedState = { readonly state: ClickState; readonly sign: 1 | -1 }

function statesIn(click: FixedClick, entry: Change): SignedState[] {
  // The cost of a tracked click counts from the start if its campaign has a cost model.
  if (entry.was_stages === null)
    return [{ state: { ...entry, cost_counts: click.is_priced && entry.tracked }, sign: 1 }]
  const was = {
    stages: entry.was_stages,
    tracked: entry.was_tracked === true,
    bot_id: entry.was_bot_id,
    revenue: entry.was_revenue,
    cost_counts: entry.was_cost_counts,
    approved: entry.was_approved,
    pending: entry.was_pending,
    rejected: entry.was_rejected,
    revenue_pending: entry.was_revenue_pending,
    conversions: entry.was_conversions,
  }
  return [
    { state: was, sign: -1 },
    { state: entry, sign: 1 },
  ]
}

/** The parts of `stateKey`: of each column, what facts are made of. */
const KEY_PARTS: { readonly [name in keyof ClickState]: (value: ClickState[name]) => unknown } = {
  stages: stages => stages,
  tracked: tracked => tracked,
  bot_id: bot_id => bot_id,
  revenue: revenue => revenue && toMillionths(revenue),
  cost_counts: counts => counts === true,
  approved: count => count ?? 0,
  pending: count => count ?? 0,
  rejected: count => count ?? 0,
  revenue_pending: amount => toMillionths(amount ?? '0'),
  conversions: conversions => conversions,
}
const KEY_COLUMNS = Object.keys(KEY_PARTS) as (keyof ClickState)[]

/** A key that is equal only for states of which equal facts are made. */
const stateKey = (state: ClickState): string =>
  KEY_COLUMNS.map(name => (KEY_PARTS[name] as (value: unknown) => unknown)(state[name])).join(' ')

/** The states that remain after those that are equal and have opposite signs have cancelled. */
function netStates(states: readonly SignedState[]): readonly SignedState[] {
  if (states.length < 2) return states
  const sums = new Map<string, { state: ClickState; sum: number }>()
  for (const { state, sign } of states) {
    const key = stateKey(state)
    const known = sums.get(key)
    if (known === undefined) sums.set(key, { state, sum: sign })
    else known.sum += sign
  }
  return [...sums.values()].flatMap(({ state, sum }) =>
    Array.from({ length: Math.abs(sum) }, (): SignedState => ({ state, sign: sum < 0 ? -1 : 1 })),
  )
}

function rowsOf(click: FixedClick, states: readonly SignedState[], hash: VisitorHash): FactRow[] {
  const visitor = visitorHashIn(click, hash)
  return states.map(({ state, sign }) => signed(factOf(click, state, visitor), sign))
}

/** The rows that the entries of a click add. */
export const factRowsOf = (click: FixedClick, entries: readonly Change[], hash: VisitorHash): FactRow[] =>
  rowsOf(click, netStates(entries.flatMap(entry => statesIn(click, entry))), hash)

/** The rows of a click as it was before the `later` entries, which are sealed afterwards. */
export function factRowsBefore(click: FixedClick & ClickState, later: readonly Change[], hash: VisitorHash): FactRow[] {
  const undone = later
    .flatMap(entry => statesIn(click, entry))
    .map(({ state, sign }) => ({ state, sign: -sign as 1 | -1 }))
  return rowsOf(click, netStates([{ state: click, sign: 1 }, ...undone]), hash)
}

/** The rows of one UTC day, ordered by time. */
export type DayRows = { readonly day: string; readonly rows: FactRow[] }

/** Making the facts of this many clicks blocks the process for a few milliseconds. Then it yields to other work. */
export const BREATH = 200

/** The rows that entries add, by the UTC day of their clicks. A click that is not among `clicks` adds none. */
export async function factRowsByDay(
  entries: ReadonlyMap<string, readonly Change[]>,
  clicks: ReadonlyMap<string, FixedClick>,
  hash: VisitorHash,
): Promise<DayRows[]> {
  const days = new Map<number, FactRow[]>()
  let made = 0
  for (const [id, own] of entries) {
    const click = clicks.get(id)
    if (click === undefined) continue
    const day = Math.floor(timeOfId(id) / DAY_MS)
    const rows = days.get(day) ?? []
    days.set(day, rows)
    rows.push(...factRowsOf(click, own, hash))
    made += 1
    if (made % BREATH === 0) await breathe()
  }
  return [...days]
    .filter(([, rows]) => rows.length > 0)
    .map(([day, rows]) => ({ day: dayOf(day * DAY_MS), rows: inOrder(rows) }))
}
