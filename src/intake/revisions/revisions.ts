/**
 * Revisions: what is said of a conversion after it was recorded, by people. Each takes the organization's queue like the conversion itself,
 * so revenue, report and revision are written together, and two that are said at once are one after the other. The room of events
 * writes them; networks say theirs by their own address.
 */
import type pg from 'pg'
import type { Call } from '../../contract/endpoint.ts'
import { Refusal, refuse } from '../../contract/refusals.ts'
import type { EventStatus } from '../../contract/revisions.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { fromMillionths, toMillionths } from '../../money/billing/money.ts'
import type { Conversions } from '../events/conversions.ts'
import type { Revision } from '../events/items.ts'
import { effective, isChange, wanted } from '../events/judge.ts'
import type { Present } from '../events/known.ts'
import type * as api from './api.ts'
import { amountOf, linesInDollars, wantFor } from './in-dollars.ts'
import { findMeant, type Meant, standingOf } from './meant.ts'
import { type Line, readRevisionFile, type WrongLine } from './revision-file.ts'

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
// People are global: asked by themselves, because on a cluster they need not lie beside an organization's rows.
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

/** What was said of each of these events, newest first. */
export async function historiesOf(
  pool: Pick<pg.Pool, 'query'>,
  org_id: number,
  events: readonly string[],
): Promise<Map<string, api.EventRevision[]>> {
  const { rows } = await pool.query<HistoryRow>(HISTORY, [org_id, events])
  const actors = [...new Set(rows.flatMap(({ actor }) => actor ?? []))]
  const people = actors.length === 0 ? [] : (await pool.query<{ id: string; name: string }>(NAMES, [actors])).rows
  const names = new Map(people.map(({ id, name }) => [id, name]))
  const told = rows.map(({ actor, ...row }) => ({
    ...row,
    actor_name: actor === null ? null : (names.get(actor) ?? null),
  }))
  return Map.groupBy(told, ({ event_id }) => event_id)
}

/** The deeds of the room, on the queue that the process runs. */
export function revisionDeeds(conversions: Pick<Conversions, 'revise'>) {
  return {
    async listRevisions(context: Context<typeof api.listRevisions>, { params }: Call<typeof api.listRevisions>) {
      const { database, actor } = context
      const event_id = idOf(params.id)
      const [found] = await standingOf(database.reads, actor.org_id, [event_id])
      if (found === undefined) refuse('object_not_found')
      const [histories, held] = await Promise.all([
        historiesOf(database.reads, actor.org_id, [event_id]),
        database.reads.query<{ approve_at: string }>(HOLD, [actor.org_id, event_id]),
      ])
      return {
        ...shown(event_id, found.present),
        payout: found.payout,
        hold_until: held.rows[0]?.approve_at ?? null,
        data: histories.get(event_id) ?? [],
      }
    },

    /** Refuses `object_not_found`, `rate_unknown`, `amount_too_large`, `too_many_revisions`, `click_not_kept`. */
    async reviseEvent(context: Context<typeof api.reviseEvent>, { params, body }: Call<typeof api.reviseEvent>) {
      const { database, actor, arrived_at } = context
      const event_id = idOf(params.id)
      const [found] = await standingOf(database.reads, actor.org_id, [event_id])
      if (found === undefined) refuse('object_not_found')
      await wantFor(context, [body])
      const asked = { click_id: found.click_id, source: 'dashboard' as const, arrived_at }
      const { present, isNew } = await conversions.revise(revisionOf(actor, event_id, asked, body))
      return { ...shown(event_id, present), seq: present.seq, unchanged: !isNew }
    },

    /** Refuses `revision_file_unreadable`; `revision_lines_wrong` with the numbers of the lines unless it is a dry run. */
    async importRevisions(context: Context<typeof api.importRevisions>, { body }: Call<typeof api.importRevisions>) {
      const { database, actor, arrived_at } = context
      const read = readRevisionFile(body.csv)
      await wantFor(
        context,
        read.flatMap(line => ('error' in line ? [] : line)),
      )
      const lines = await linesInDollars(context, await findMeant(database.reads, actor.org_id, read))
      const looked = lines.map(told)
      const wrong = looked.filter(({ fate }) => fate === 'wrong')
      if (wrong.length > 0 && !body.dry_run) refuseLines(wrong)
      if (body.dry_run) return summed(true, looked)
      const done = await Promise.all(
        lines.map(async (line): Promise<api.RevisionLine> => {
          if ('error' in line) return told(line)
          const asked = { click_id: line.click_id, source: 'import' as const, arrived_at }
          try {
            const { before, present, isNew } = await conversions.revise(revisionOf(actor, line.event_id, asked, line))
            const fate = isNew ? 'changes' : 'same'
            return { ...told(line), fate, before: plain(before), becomes: plain(present) }
          } catch (error) {
            // The lines beside it are done; what the database could not take now is sent again with the whole file.
            if (!(error instanceof Refusal) || error.status >= 500) throw error
            return told({ line: line.line, error: error.message })
          }
        }),
      )
      return summed(false, done)
    },
  }
}

type Actor = { readonly org_id: number; readonly user_id: string }
type Asked = Pick<Revision, 'click_id' | 'source' | 'arrived_at'>

function revisionOf({ org_id, user_id }: Actor, event_id: string, asked: Asked, said: api.RevisionDraft): Revision {
  return {
    kind: 'revision',
    org_id,
    of: { event_id },
    status: said.status,
    ...amountOf(said),
    reason: said.reason || null,
    network_id: null,
    actor: user_id,
    ...asked,
  }
}

const plain = ({ status, amount }: Pick<Present, 'status' | 'amount'>) => ({ status, amount: fromMillionths(amount) })
const shown = (event_id: string, present: Present) => ({ event_id, ...plain(present) })

/** What becomes of a line, by how its conversion stands. */
function told(line: (Line & Meant & { dollars: string | undefined }) | WrongLine): api.RevisionLine {
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
  const next = wanted(line, present, { status: line.status, amount: line.dollars })
  const fate = isChange(present, next) ? 'changes' : 'same'
  return { line: line.line, fate, event_id, click_id, before: plain(present), becomes: plain(next), error: null }
}

function summed(dry_run: boolean, lines: api.RevisionLine[]) {
  const changing = lines.filter(({ fate }) => fate === 'changes')
  const worth = (one: api.RevisionLine['before']) =>
    one === null ? 0n : effective({ ...one, amount: toMillionths(one.amount) })
  const difference = changing.reduce((sum, { before, becomes }) => sum + worth(becomes) - worth(before), 0n)
  const wrong = lines.filter(({ fate }) => fate === 'wrong').length
  return { dry_run, lines, changed: changing.length, wrong, difference: fromMillionths(difference) }
}

function refuseLines(wrong: readonly api.RevisionLine[]): never {
  const named = wrong.slice(0, MOST_NAMED).map(({ line, error }) => `line ${line}: ${error}`)
  const more = wrong.length > named.length ? `; and ${wrong.length - named.length} more` : ''
  return refuse('revision_lines_wrong', { error: `${named.join('; ')}${more}` })
}
