/**
 * The scanning process, the local files and the limits of Explore, and how a question gets the facts of its window: in turns, and again with a new
 * snapshot where segments or files have disappeared.
 */
import type pg from 'pg'
import { dayOf } from '../../contract/days.ts'
import { refuse } from '../../contract/refusals.ts'
import { possible, type Window } from '../../contract/window.ts'
import type { Ground } from '../../ground/room.ts'
import type { TextColumn } from '../segments/facts.ts'
import { visitorHashOf } from '../segments/seal.ts'
import { type Ask, type Engine, FilesGone } from './engine.ts'
import type { Files } from './files.ts'
import { bringFacts, forgetCopy, keptSheetsOf, type Lacking } from './local.ts'
import { PRICING_LIMITS, type PricingLimits } from './pricing.ts'
import type { LocalFacts } from './scan.ts'
import { readSnapshot, type Snapshot, type SnapshotOptions } from './snapshot.ts'
import { VISITOR_LIMITS, type VisitorLimits } from './visitors.ts'
import { WIDE_LIMITS, type WideLimits } from './wide.ts'
import { WORD_LIMITS, type WordLimits } from './words.ts'

export type Explorer = {
  readonly engine: Engine
  readonly files: Files
  readonly folder: string
  readonly limits: ExploreLimits
}

export type ExploreLimits = WideLimits &
  VisitorLimits &
  WordLimits &
  PricingLimits & {
    /** The most unsealed clicks and changes in an answer. If there are more, the answer names their days as incomplete. */
    readonly waiting: number
    /** About how many of them are read in one turn, which takes some two seconds. */
    readonly fresh_at_once: number
    /** In milliseconds. A question that takes longer is refused. */
    readonly question_ms: number
  }
export const EXPLORE_LIMITS: ExploreLimits = {
  ...WIDE_LIMITS,
  ...VISITOR_LIMITS,
  ...WORD_LIMITS,
  ...PRICING_LIMITS,
  waiting: 200_000,
  fresh_at_once: 30_000,
  question_ms: 10_000,
}

/** A segment may be replaced between the statement that names it and the one that fetches it, and local files may be removed at any time. */
const MOST_TRIES = 4

/** What a question needs besides clicks. */
type Wants = Pick<SnapshotOptions, 'wantsTies' | 'wantsSpend'>
type SheetsWanted = Wants &
  Pick<SnapshotOptions, 'most_fresh'> & { readonly knownTo: (ask: Ask) => SnapshotOptions['known'] }
export const NOTHING_ELSE: Wants = { wantsTies: false, wantsSpend: false }

type QuestionFacts = LocalFacts & Pick<Snapshot, 'incomplete_days'>
type SnapshotSeen = { readonly snapshot: Snapshot; readonly reads: Pick<pg.Pool, 'query'>; readonly window: Window }

/**
 * Runs `question` over the local copy of the facts. The snapshot is read when the question has its turn, so that the copy is never ahead of the
 * snapshot.
 */
export function withFacts<T>(
  explorer: Explorer,
  ground: Pick<Ground, 'database' | 'secrets' | 'log'>,
  org_id: number,
  askedWindow: Window,
  question: (ask: Ask, facts: QuestionFacts) => Promise<T>,
  { texts, ...wants }: Wants & { readonly texts: readonly TextColumn[] },
): Promise<T> {
  const { files, folder, limits } = explorer
  const knownTo = (ask: Ask) => keptSheetsOf(ask, org_id)
  return withSnapshot(
    explorer,
    ground,
    org_id,
    askedWindow,
    { ...wants, knownTo, most_fresh: limits.fresh_at_once },
    async (ask, { snapshot, reads, window }) => {
      const days = { first: dayOf(window.from), last: dayOf(window.to) }
      const facts = await bringFacts(
        ask,
        { files, reads, texts, ...limits },
        { folder, org_id },
        { ...snapshot, ...days },
      )
      if (typeof facts === 'string') return facts
      return { answer: await question(ask, { ...facts, incomplete_days: snapshot.incomplete_days }) }
    },
  )
}

/** Runs `work` in the scanning process with a snapshot of the window. If segments or local files are missing, repeats it with a new snapshot. */
export async function withSnapshot<T>(
  { engine, limits }: Explorer,
  { database: { reads }, secrets, log }: Pick<Ground, 'database' | 'secrets' | 'log'>,
  org_id: number,
  askedWindow: Window,
  { knownTo, ...wants }: SheetsWanted,
  work: (ask: Ask, seen: SnapshotSeen) => Promise<{ answer: T } | Lacking>,
): Promise<T> {
  const window = possible(askedWindow)
  const how = { hash: visitorHashOf(secrets, org_id), most_waiting: limits.waiting, ...wants }
  const attempt = (ask: Ask) => async () => {
    const snapshot = await readSnapshot(reads, org_id, window, { ...how, known: knownTo(ask) })
    return work(ask, { snapshot, reads, window })
  }
  let goesOn = false
  for (let tries = 1; tries <= MOST_TRIES; goesOn = true) {
    try {
      const answered = await engine.run(org_id, ask => orForget(ask, org_id, attempt(ask)), goesOn)
      if (typeof answered === 'object') return answered.answer
      // 'more' is no failed try: a portion was copied, and other questions may have their turn before the next portion.
      if (answered === 'gone') tries += 1
    } catch (error) {
      if (!isGone(error)) throw error
      log.warn({ err: error, org_id }, 'local files of Explore were lost; rebuilding them')
      tries += 1
    }
  }
  return refuse('explore_busy', { headers: { 'retry-after': '5' } })
}

/** Runs `work`, and forgets the local copy if its files were removed, which may happen at any time, even while they are written. */
async function orForget<T>(ask: Ask, org_id: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FilesGone) await forgetCopy(ask.process, org_id)
    throw error
  }
}

const isGone = (error: unknown) => error instanceof FilesGone || (error as NodeJS.ErrnoException).code === 'ENOENT'
