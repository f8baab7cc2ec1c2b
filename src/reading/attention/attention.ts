/**
 * Attention: one list of failures, refusals, and limits that are reached or nearly so, each with its object and the spend and revenue affected. Owns no
 * table: a line exists as long as its cause does. Every open dashboard reads it each minute, so it reads few rows, by an index.
 */
import { DAY_MS, dayOf } from '../../contract/days.ts'
import { DIAGNOSES, type Diagnosis } from '../../contract/diagnoses.ts'
import { firstIdAt } from '../../contract/ids.ts'
import { toUnits } from '../../contract/decimals.ts'
import type { Context, Ground, Member } from '../../ground/room.ts'
import { PASSING_FAULTS } from '../../money/spend-accounts/reader.ts'
import { listDueCertificates } from '../../traffic/certificates/attention.ts'
import { unicodeName } from '../../traffic/domains/name.ts'
import { daysWithoutFacts } from '../explore/standing.ts'
import { listFailingRounds } from '../failing-rounds/failing-rounds.ts'
import { DIFFERING } from '../segments/check.ts'
import * as api from './api.ts'
import { CAUSES, type Cause } from './causes.ts'
import { readWorth } from './worth.ts'

/** Refused calls are counted up to so many. */
const MOST_COUNTED = 10_000
/** Days that are checked for missing clicks: those of the overview's usual window. */
const DAYS_CHECKED = 7

type Asking = Context<typeof api.readAttention>

/** The lines, the most urgent kind first, and within a kind those with the most spend and revenue. */
export async function readAttention(context: Asking): Promise<{ lines: api.AttentionLine[] }> {
  const { actor } = context
  const now = Date.now()
  const found = await Promise.all([
    findCauses(context, now),
    findFailingRounds(context),
    findIncompleteDays(context, now),
  ])
  const causes = found.flat()
  const worthOf = await readWorth(context, actor.org_id, causes, now)
  const lines = causes.map(cause => lineOf(cause, worthOf(cause)))
  return { lines: lines.toSorted((a, b) => rankOf(a) - rankOf(b) || Number(costOf(b) - costOf(a))) }
}

type Finding = Pick<Ground, 'database' | 'db' | 'config'> & { readonly actor: Pick<Member, 'org_id' | 'role'> }

/** What the tables of the rooms and the certificates show at a moment, without jobs and days. */
export async function findCauses(context: Finding, now: number): Promise<Cause[]> {
  const { database, actor } = context
  const parameters = [actor.org_id, firstIdAt(now - DAY_MS), dayOf(now), MOST_COUNTED, PASSING_FAULTS]
  const [{ rows }, due] = await Promise.all([
    database.reads.query<Cause>(CAUSES, parameters),
    findDueCertificates(context),
  ])
  return [...rows, ...due]
}

const rankOf = ({ kind }: api.AttentionLine) => api.ATTENTION_KINDS.indexOf(kind)
const costOf = ({ spend_per_day, revenue_per_day }: api.AttentionLine): bigint =>
  toUnits(spend_per_day ?? '0', 2) + toUnits(revenue_per_day ?? '0', 2)

function lineOf({ campaigns: _, ...cause }: Cause, perDay: ReturnType<Awaited<ReturnType<typeof readWorth>>>) {
  return { ...cause, ...inWords(cause), ...perDay }
}

/** Domain names in Unicode, and diagnoses in the words of the page of refused calls. */
function inWords({ kind, name, reason }: Omit<Cause, 'campaigns'>): Partial<Pick<Cause, 'name' | 'reason'>> {
  if (kind === 'calls_refused') return { reason: DIAGNOSES[reason as Diagnosis].words }
  return kind.startsWith('domain_') && name !== null ? { name: unicodeName(name) } : {}
}

const NOTHING = { id: null, object: null, count: 1, since: null, until: null, reason: null, campaigns: null } as const

async function findDueCertificates({ db, config, actor }: Finding): Promise<Cause[]> {
  const due = await listDueCertificates({ db, config }, actor)
  return due.map(({ name, domain_id, not_after, problem }) => ({
    ...NOTHING,
    kind: not_after === null ? ('certificate_missing' as const) : ('certificate_expiring' as const),
    id: domain_id,
    name: unicodeName(name),
    until: not_after,
    reason: problem,
  }))
}

/** None for members, who cannot fix periodic jobs. */
async function findFailingRounds({ db, actor }: Asking): Promise<Cause[]> {
  if (actor.role === 'member') return []
  const failing = await listFailingRounds(db, actor.org_id)
  return failing.map(({ round, failing_since }) => ({
    ...NOTHING,
    kind: 'job_failing' as const,
    name: round,
    since: failing_since,
  }))
}

/** Days whose clicks are missing in Explore, until they are rebuilt automatically. */
async function findIncompleteDays({ database, actor }: Asking, now: number): Promise<Cause[]> {
  const from = dayOf(now - DAYS_CHECKED * DAY_MS)
  const { rows } = await database.reads.query<{ day: string }>(DIFFERING, [actor.org_id, from])
  const days = await daysWithoutFacts(database.reads, actor.org_id, rows.map(({ day }) => day).toSorted())
  if (days.length === 0) return []
  return [{ ...NOTHING, kind: 'days_incomplete', name: null, count: days.length, since: `${days[0]}T00:00:00Z` }]
}
