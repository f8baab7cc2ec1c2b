/** Finds the conversions of revisions, with their standing. Reads without the queue's lock, so the queue decides again. */
import type pg from 'pg'
import type { EventStatus } from '../../contract/revisions.ts'
import { toMillionths } from '../../money/billing/money.ts'
import { singleEvent } from '../events/referred-event.ts'
import { standingAsRecorded } from '../events/standing.ts'
import type { EventStanding } from '../events/organization-state.ts'
import type { RevisionFileLine, WrongLine } from './revision-file.ts'

/** A conversion with its standing. */
export type FoundEvent = {
  readonly event_id: string
  readonly click_id: string
  readonly nonce: string | null
  readonly payout: string | null
  readonly present: EventStanding
}

const READ = `
  select e.id as event_id, e.click_id, e.nonce, trim_scale(e.payout)::text as payout, r.seq, r.status, r.amount
  from events e
  left join lateral (
    select seq, status, amount from event_revisions where org_id = $1 and event_id = e.id order by seq desc limit 1
  ) r on true
  where e.org_id = $1 and (e.id = any($2::uuid[]) or e.click_id = any($3::uuid[]))`

type FoundEventRow = Omit<FoundEvent, 'present'> & { seq: number | null; status: EventStatus; amount: string }

/** These events and all events of these clicks, with their standing. */
export async function readStandings(
  pool: Pick<pg.Pool, 'query'>,
  org_id: number,
  events: readonly string[],
  clicks: readonly string[] = [],
): Promise<FoundEvent[]> {
  const { rows } = await pool.query<FoundEventRow>(READ, [org_id, events, clicks])
  return rows.map(({ seq, status, amount, ...event }) => ({
    ...event,
    present:
      seq === null
        ? standingAsRecorded(event)
        : { seq, status, amount: toMillionths(amount), was_held: status === 'pending' },
  }))
}

/** Each line with the conversion it names, or its error. */
export async function findEvents(
  pool: Pick<pg.Pool, 'query'>,
  org_id: number,
  lines: readonly (RevisionFileLine | WrongLine)[],
): Promise<((RevisionFileLine & FoundEvent) | WrongLine)[]> {
  const read = lines.filter((line): line is RevisionFileLine => !('error' in line))
  const events = await readStandings(
    pool,
    org_id,
    read.flatMap(({ event_id }) => event_id ?? []),
    read.flatMap(({ click_id }) => click_id ?? []),
  )
  const [byId, byClick] = [Map.groupBy(events, one => one.event_id), Map.groupBy(events, one => one.click_id)]
  const taken = new Map<string, number>()
  return lines.map(line => {
    if ('error' in line) return line
    const event =
      line.event_id === null
        ? eventOnClick(byClick.get(line.click_id ?? '') ?? [], line.transaction_id)
        : byId.get(line.event_id)?.[0]
    if (event === undefined) return { line: line.line, error: 'no such conversion is recorded' }
    if (event === 'several')
      return { line: line.line, error: 'the click has several conversions: name one by its event_id' }
    const before = taken.get(event.event_id)
    if (before !== undefined) return { line: line.line, error: `line ${before} names the same conversion` }
    taken.set(event.event_id, line.line)
    return { ...line, ...event }
  })
}

function eventOnClick(
  events: readonly FoundEvent[],
  transaction_id: string | null,
): FoundEvent | 'several' | undefined {
  const named = transaction_id === null ? events : events.filter(({ nonce }) => nonce === transaction_id)
  return singleEvent(named, one => one.present.seq > 0 || one.present.amount > 0n, transaction_id !== null)
}
