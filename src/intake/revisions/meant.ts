/** Which conversions are meant, and how they stand: read without the lock, so what is done about them is decided again under it. */
import type pg from 'pg'
import type { EventStatus } from '../../contract/revisions.ts'
import { toMillionths } from '../../money/billing/money.ts'
import { asRecorded, oneOf } from '../events/judge.ts'
import type { Present } from '../events/known.ts'
import type { Line, WrongLine } from './revision-file.ts'

/** A conversion that is meant. */
export type Meant = {
  readonly event_id: string
  readonly click_id: string
  readonly nonce: string | null
  readonly payout: string | null
  readonly present: Present
}

const READ = `
  select e.id as event_id, e.click_id, e.nonce, trim_scale(e.payout)::text as payout, r.seq, r.status, r.amount
  from events e
  left join lateral (
    select seq, status, amount from event_revisions where org_id = $1 and event_id = e.id order by seq desc limit 1
  ) r on true
  where e.org_id = $1 and (e.id = any($2::uuid[]) or e.click_id = any($3::uuid[]))`

type Row = Omit<Meant, 'present'> & { seq: number | null; status: EventStatus; amount: string }

/** How these events stand, those of these clicks too. */
export async function standingOf(
  pool: Pick<pg.Pool, 'query'>,
  org_id: number,
  events: readonly string[],
  clicks: readonly string[] = [],
): Promise<Meant[]> {
  const { rows } = await pool.query<Row>(READ, [org_id, events, clicks])
  return rows.map(({ seq, status, amount, ...event }) => ({
    ...event,
    present:
      seq === null ? asRecorded(event) : { seq, status, amount: toMillionths(amount), was_held: status === 'pending' },
  }))
}

/** Each line with the conversion it names, or what is wrong with it. */
export async function findMeant(
  pool: Pick<pg.Pool, 'query'>,
  org_id: number,
  lines: readonly (Line | WrongLine)[],
): Promise<((Line & Meant) | WrongLine)[]> {
  const read = lines.filter((line): line is Line => !('error' in line))
  const found = await standingOf(
    pool,
    org_id,
    read.flatMap(({ event_id }) => event_id ?? []),
    read.flatMap(({ click_id }) => click_id ?? []),
  )
  const [byId, byClick] = [Map.groupBy(found, one => one.event_id), Map.groupBy(found, one => one.click_id)]
  const taken = new Map<string, number>()
  return lines.map(line => {
    if ('error' in line) return line
    const one =
      line.event_id === null
        ? onClick(byClick.get(line.click_id ?? '') ?? [], line.transaction_id)
        : byId.get(line.event_id)?.[0]
    if (one === undefined) return { line: line.line, error: 'no such conversion is recorded' }
    if (one === 'several')
      return { line: line.line, error: 'several conversions of the click can be meant: name it by its event_id' }
    const before = taken.get(one.event_id)
    if (before !== undefined) return { line: line.line, error: `line ${before} is of the same conversion` }
    taken.set(one.event_id, line.line)
    return { ...line, ...one }
  })
}

function onClick(events: readonly Meant[], transaction_id: string | null): Meant | 'several' | undefined {
  const named = transaction_id === null ? events : events.filter(({ nonce }) => nonce === transaction_id)
  return oneOf(named, one => one.present.seq > 0 || one.present.amount > 0n, transaction_id !== null)
}
