/**
 * Revisions: status changes of recorded conversions, made by people. Each goes through the organization's queue like the conversion itself,
 * so revenue, report and revision are written together, and concurrent revisions are applied one after the other. The events room
 * writes them; networks make theirs by postback.
 */
import type pg from 'pg'
import type { Call } from '../../contract/endpoint.ts'
import { Refusal, refuse } from '../../contract/refusals.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import type { Conversions } from '../events/conversions.ts'
import type { Revision } from '../events/items.ts'
import { countedAmount, isStandingChange, nextStanding } from '../events/standing.ts'
import type { EventStanding } from '../events/organization-state.ts'
import type * as api from './api.ts'
import { revisedAmountOf, linesInDollars, wantRatesFor } from './in-dollars.ts'
import { findEvents, type FoundEvent, readStandings } from './find-events.ts'
import { type RevisionFileLine, readRevisionFile, type WrongLine } from './revision-file.ts'

const MOST_NAMED = 10

const HISTORY = `
  select r.event_id, r.seq, r.status, trim_scale(r.amount)::text as amount, trim_scale(r.original_amount)::text as original_amount,
    r.original_currency, trim_scale(r.rate)::text as rate, r.reason, r.source, r.network_id, n.name as network_name, r.actor,
    r.created_at
  from event_revisions r
  left join networks n on n.org_id = $1 and n.id = r.network_id
  where r.org_id = $1 and r.event_id = any($2::uuid[])
  order by r.event_id, r.seq desc`
const HOLD = 'select approve_at from held_events where org_id = $1 and event_id = $2'
// Users are global, so they are read separately: on a cluster they may be on another node than the organization's rows.
const NAMES = 'select id, name from users where id = any($1::uuid[])'

type HistoryRow = {
  event_id: string
  seq: number
  status: EventStatus
  amount: string
  original_amount: string | null
  original_currency: string | null
  rate: string | null
  reason: string | null
  source: Revision['source']
  network_id: string | null
  network_name: string | null
  actor: string | null
  created_at: string
}

/** The revisions of each of these events, newest first. */
export async function historiesOf(
  pool: Pick<pg.Pool, 'query'>,
  org_id: number,
  events: readonly string[],
): Promise<Map<string, api.EventRevision[]>> {
  const { rows } = await pool.query<HistoryRow>(HISTORY, [org_id, events])
  const actors = [...new Set(rows.flatMap(({ actor }) => actor ?? []))]
  const people = actors.length === 0 ? [] : (await pool.query<{ id: string; name: string }>(NAMES, [actors])).rows
  const names = new Map(people.map(({ id, name }) => [id, name]))
  const revisions = rows.map(({ actor, ...row }) => ({
    ...row,
    actor_name: actor === null ? null : (names.get(actor) ?? null),
  }))
  return Map.groupBy(revisions, ({ event_id }) => event_id)
}

/** The deeds of the room, on the queue that the process runs. */
export function revisionDeeds(conversions: Pick<Conversions, 'revise'>) {
  return {
    async listRevisions(context: Context<typeof api.listRevisions>, { params }: Call<typeof api.listRevisions>) {
      const { database, actor } = context
      const event_id = idOf(params.id)
      const [event] = await readStandings(database.reads, actor.org_id, [event_id])
      if (event === undefined) refuse('object_not_found')
      const [histories, held] = await Promise.all([
        historiesOf(database.reads, actor.org_id, [event_id]),
        database.reads.query<{ approve_at: string }>(HOLD, [actor.org_id, event_id]),
      ])
      return {
        ...currentStatus(event_id, event.present),
        payout: event.payout,
        hold_until: held.rows[0]?.approve_at ?? null,
        data: histories.get(event_id) ?? [],
      }
    },

    /** Refuses `object_not_found`, `rate_unknown`, `amount_too_large`, `too_many_revisions`, `click_not_kept`. */
    async reviseEvent(context: Context<typeof api.reviseEvent>, { params, body }: Call<typeof api.reviseEvent>) {
      const { database, actor, arrived_at } = context
      const event_id = idOf(params.id)
      const [event] = await readStandings(database.reads, actor.org_id, [event_id])
      if (event === undefined) refuse('object_not_found')
      await wantRatesFor(context, [body])
      const origin = { click_id: event.click_id, source: 'dashboard' as const, arrived_at }
      const { present, isNew } = await conversions.revise(revisionOf(context, event_id, origin, body))
      return { ...currentStatus(event_id, present), seq: present.seq, unchanged: !isNew }
    },

    /** Refuses `revision_file_unreadable`; unless it is a dry run, `revision_lines_wrong` with the numbers of the wrong lines. */
    async importRevisions(context: Context<typeof api.importRevisions>, { body }: Call<typeof api.importRevisions>) {
      const { database, actor, arrived_at } = context
      const read = readRevisionFile(body.csv)
      await wantRatesFor(
        context,
        read.flatMap(line => ('error' in line ? [] : line)),
      )
      const lines = await linesInDollars(context, await findEvents(database.reads, actor.org_id, read))
      const previews = lines.map(previewOf)
      const wrong = previews.filter(({ fate }) => fate === 'wrong')
      if (wrong.length > 0 && !body.dry_run) refuseLines(wrong)
      if (body.dry_run) return resultOf(true, previews)
      const done = await Promise.all(
        lines.map(async (line): Promise<api.RevisionLine> => {
          if ('error' in line) return previewOf(line)
          const origin = { click_id: line.click_id, source: 'import' as const, arrived_at }
          try {
            const { before, present, isNew } = await conversions.revise(
              revisionOf(context, line.event_id, origin, line),
            )
            const fate = isNew ? 'changes' : 'same'
            return { ...previewOf(line), fate, before: statusAndAmount(before), becomes: statusAndAmount(present) }
          } catch (error) {
            // The other lines are done. After a database error the caller sends the whole file again.
            if (!(error instanceof Refusal) || error.status >= 500) throw error
            return previewOf({ line: line.line, error: error.message })
          }
        }),
      )
      return resultOf(false, done)
    },
  }
}

type Caller = Pick<Context<typeof api.reviseEvent>, 'actor' | 'act'>
type RevisionOrigin = Pick<Revision, 'click_id' | 'source' | 'arrived_at'>

function revisionOf(
  { actor: { org_id, user_id }, act }: Caller,
  event_id: string,
  origin: RevisionOrigin,
  draft: api.RevisionDraft,
): Revision {
  return {
    kind: 'revision',
    org_id,
    of: { event_id },
    status: draft.status,
    ...revisedAmountOf(draft),
    reason: draft.reason || null,
    network_id: null,
    actor: user_id,
    act,
    ...origin,
  }
}

const statusAndAmount = ({ status, amount }: Pick<EventStanding, 'status' | 'amount'>) => ({
  status,
  amount: fromMillionths(amount),
})
const currentStatus = (event_id: string, present: EventStanding) => ({ event_id, ...statusAndAmount(present) })

/** The result of a line, by the current status of its conversion. */
function previewOf(
  line: (RevisionFileLine & FoundEvent & { dollars: string | undefined }) | WrongLine,
): api.RevisionLine {
  if ('error' in line)
    return {
      line: line.line,
      fate: 'wrong',
      event_id: null,
      click_id: null,
      before: null,
      becomes: null,
      error: line.error,
    }
  const { event_id, click_id, present } = line
  const next = nextStanding(line, present, { status: line.status, amount: line.dollars })
  const fate = isStandingChange(present, next) ? 'changes' : 'same'
  return {
    line: line.line,
    fate,
    event_id,
    click_id,
    before: statusAndAmount(present),
    becomes: statusAndAmount(next),
    error: null,
  }
}

function resultOf(dry_run: boolean, lines: api.RevisionLine[]) {
  const changing = lines.filter(({ fate }) => fate === 'changes')
  const worth = (one: api.RevisionLine['before']) =>
    one === null ? 0n : countedAmount({ ...one, amount: toMillionths(one.amount) })
  const difference = changing.reduce((sum, { before, becomes }) => sum + worth(becomes) - worth(before), 0n)
  const wrong = lines.filter(({ fate }) => fate === 'wrong').length
  return { dry_run, lines, changed: changing.length, wrong, difference: fromMillionths(difference) }
}

function refuseLines(wrong: readonly api.RevisionLine[]): never {
  const named = wrong.slice(0, MOST_NAMED).map(({ line, error }) => `line ${line}: ${error}`)
  const more = wrong.length > named.length ? `; and ${wrong.length - named.length} more` : ''
  return refuse('revision_lines_wrong', { error: `${named.join('; ')}${more}` })
}
