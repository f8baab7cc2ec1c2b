/**
 * Matches lines of a network's file with recorded conversions: by transaction and click id, then by transaction, then by a click id with one paid
 * conversion. Never by time and amount alone. Conversions of other networks match no line.
 */
import type pg from 'pg'
import { toWireId } from '../../contract/ids.ts'
import { msOfDatabase } from '../../contract/moments.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import { toMillionths } from '../../money/billing/money.ts'
import { singleEvent } from '../events/referred-event.ts'
import { standingAsRecorded } from '../events/standing.ts'
import type { EventStanding } from '../events/organization-state.ts'
import type { ReconciledLine } from './api.ts'
import type { NetworkLine } from './read-lines.ts'

/** A recorded conversion with its standing. `at` in Unix ms. `isOwn`: the network reported it. */
export type Candidate = {
  readonly event_id: string
  readonly click_id: string
  readonly nonce: string | null
  readonly type: string
  readonly payout: string | null
  readonly at: number
  readonly isOwn: boolean
  readonly present: EventStanding
}

export type Match =
  | { readonly event: Candidate; readonly by: NonNullable<ReconciledLine['matched_by']> }
  | { readonly several: readonly Candidate[] }
  | undefined

type Names = Pick<NetworkLine, 'click_id' | 'transaction_id' | 'type' | 'is_named'>

/** The nonce of a conversion that is recorded from a line without a transaction id. */
export const ownNonceOf = (click_id: string): string => `reconcile-${toWireId(click_id)}`

const COLUMNS = `e.id as event_id, e.click_id, e.nonce, e.type, trim_scale(e.payout)::text as payout, e.created_at,
  e.payload->>'network_id' as network, r.seq, r.status, r.amount`
const LAST_REVISION = `
  left join lateral (
    select seq, status, amount from event_revisions where org_id = $1 and event_id = e.id order by seq desc limit 1
  ) r on true`
// Sluice's own events and reports of browsers that nobody has confirmed are nothing that a network pays.
const COUNTS = `e.source <> 'service' and e.confirmed_at is distinct from 'infinity'`
// Each key is looked up by itself, and `offset 0` keeps the planner from reading the whole table instead, however small it thinks it is.
const READ = `
  select distinct on (e.id) ${COLUMNS}
  from (
    select n.* from unnest($2::text[]) as asked (nonce)
    cross join lateral (select * from events where org_id = $1 and nonce = asked.nonce offset 0) n
    union all
    select c.* from unnest($3::uuid[]) as asked (click_id)
    cross join lateral (select * from events where org_id = $1 and click_id = asked.click_id offset 0) c
  ) e${LAST_REVISION}
  where e.org_id = $1 and ${COUNTS}`
const READ_ALIASES = 'select id, click_id from click_aliases where org_id = $1 and id = any($2::uuid[])'
const READ_OWN = `
  select ${COLUMNS} from events e${LAST_REVISION}
  where e.org_id = $1 and ${COUNTS} and e.payload->>'network_id' = $2 and e.created_at >= $3 and e.created_at < $4
    and (e.created_at, e.id) > ($5, $6)
  order by e.created_at, e.id limit $7`

type Row = Omit<Candidate, 'at' | 'isOwn' | 'present'> & {
  created_at: string
  network: string | null
  seq: number | null
  status: EventStatus
  amount: string
}

function candidateOf({ created_at, network, seq, status, amount, ...event }: Row, own: string): Candidate {
  const revised = { seq: seq ?? 0, status, was_held: status === 'pending' }
  return {
    ...event,
    at: msOfDatabase(created_at),
    isOwn: network === own,
    present: seq === null ? standingAsRecorded(event) : { ...revised, amount: toMillionths(amount) },
  }
}

type Place = { readonly pool: Pick<pg.Pool, 'query'>; readonly org_id: number; readonly network_id: string }

/** The match of each line of a portion. */
export async function readMatches<Line extends Names>(
  { pool, org_id, network_id }: Place,
  lines: readonly Line[],
): Promise<Map<Line, Match>> {
  const clicks = [...new Set(lines.flatMap(({ click_id }) => click_id ?? []))]
  const transactions = [...new Set(lines.flatMap(({ transaction_id }) => transaction_id ?? []))]
  const aliases = await pool.query<{ id: string; click_id: string }>(READ_ALIASES, [org_id, clicks])
  const other = new Map(aliases.rows.map(({ id, click_id }) => [id, click_id]))
  const { rows } = await pool.query<Row>(READ, [org_id, transactions, [...clicks, ...other.values()]])
  const own = toWireId(network_id)
  const candidates = rows.filter(({ network }) => network === null || network === own).map(row => candidateOf(row, own))
  const byNonce = Map.groupBy(candidates, ({ nonce }) => nonce)
  const byClick = Map.groupBy(candidates, ({ click_id }) => click_id)
  const clickOf = ({ click_id }: Line) => (click_id === null ? null : (other.get(click_id) ?? click_id))
  return new Map(
    lines.map(line => {
      const click_id = clickOf(line)
      const named = line.transaction_id === null ? [] : (byNonce.get(line.transaction_id) ?? [])
      return [line, matchOf({ ...line, click_id }, named, byClick.get(click_id ?? '') ?? [])]
    }),
  )
}

function matchOf(line: Names, named: readonly Candidate[], onClick: readonly Candidate[]): Match {
  const { click_id, transaction_id } = line
  const exact = named.filter(event => event.click_id === click_id)
  if (exact.length > 0) return chosen(line, exact, 'transaction_and_click')
  if (named.length > 0) return chosen(line, named, 'transaction')
  if (click_id === null) return undefined
  if (transaction_id !== null) return onlyPaid(onClick.filter(({ nonce }) => nonce === null))
  const own = onClick.find(({ nonce }) => nonce === ownNonceOf(click_id))
  return own === undefined ? onlyPaid(onClick) : { event: own, by: 'click' }
}

const isPaid = ({ present }: Candidate) => present.seq > 0 || present.amount > 0n

/** The conversion among those that have the transaction: the network's own first, of the type that the line names, else the only paid one. */
function chosen(line: Names, events: readonly Candidate[], by: 'transaction_and_click' | 'transaction'): Match {
  const own = events.filter(({ isOwn }) => isOwn)
  const among = own.length > 0 ? own : events
  const ofType = line.is_named ? among.filter(({ type }) => type === line.type) : []
  const one = singleEvent(ofType.length > 0 ? ofType : among, isPaid, true)
  if (one === 'several') return { several: among }
  return one === undefined ? undefined : { event: one, by }
}

function onlyPaid(events: readonly Candidate[]): Match {
  const one = singleEvent(events, isPaid, false)
  if (one === 'several') return { several: events.filter(isPaid) }
  return one === undefined ? undefined : { event: one, by: 'click' }
}

const NOTHING = '00000000-0000-0000-0000-000000000000'
const PORTION = 5000

/** The conversions that the network reported from `from` until before `until` (Unix ms), oldest first. */
export async function* ownConversions(
  { pool, org_id, network_id }: Place,
  from: number,
  until: number,
): AsyncIterable<Candidate> {
  const own = toWireId(network_id)
  const bounds = [new Date(from).toISOString(), new Date(until).toISOString()]
  for (let after: [string, string] = ['-infinity', NOTHING]; ; ) {
    const { rows } = await pool.query<Row>(READ_OWN, [org_id, own, ...bounds, ...after, PORTION])
    for (const row of rows) yield candidateOf(row, own)
    const last = rows.at(-1)
    if (last === undefined || rows.length < PORTION) return
    after = [last.created_at, last.event_id]
  }
}
