/** Puts the rooms of reading together for `house.ts`. */
import { type Ground, room } from '../ground/room.ts'
import type { OpenPart, TakePart } from '../ground/running.ts'
import * as attentionApi from './attention/api.ts'
import { readAttention } from './attention/attention.ts'
import * as auditApi from './audit/api.ts'
import * as audit from './audit/reconcile.ts'
import * as exploreViewsApi from './explore-views/api.ts'
import * as exploreViews from './explore-views/explore-views.ts'
import * as exploreApi from './explore/api.ts'
import { exploreDeeds } from './explore/explore.ts'
import type { ExploreLimits } from './explore/explorer.ts'
import { openExplorer } from './explore/open.ts'
import { openFailingRounds } from './failing-rounds/failing-rounds.ts'
import * as feedApi from './feed/api.ts'
import * as feed from './feed/feed.ts'
import * as figuresApi from './figures/api.ts'
import * as figures from './figures/figures.ts'
import * as reportsApi from './reports/api.ts'
import { openSlotChecks } from './reports/complete-slots.ts'
import { openEventFolder } from './reports/fold-events.ts'
import { openFolder } from './reports/fold.ts'
import * as reports from './reports/report.ts'
import { openKeeping } from './segments/keeping.ts'
import { openWaitingWatch } from './segments/waiting.ts'
import * as splitTestsApi from './split-tests/api.ts'
import * as splitTests from './split-tests/split-tests.ts'
import * as objectTests from './split-tests/tests.ts'
import * as tracesApi from './traces/api.ts'
import * as traces from './traces/traces.ts'

/** Settings that only tests and the bench change. */
export type ReadingOptions = { explore?: Partial<ExploreLimits> }

/** The endpoints, and the process that scans for Explore. */
export function openReading(ground: Ground, { explore }: ReadingOptions, take: TakePart) {
  const explorer = take(openExplorer(ground, explore))
  return [
    ...room(auditApi, audit),
    ...room(attentionApi, { readAttention }),
    ...room(feedApi, feed),
    ...room(tracesApi, traces),
    ...room(reportsApi, reports),
    ...room(figuresApi, figures),
    ...room(splitTestsApi, { ...splitTests, ...objectTests }),
    ...room(exploreApi, exploreDeeds(explorer)),
    ...room(exploreViewsApi, exploreViews),
  ]
}

/** The periodic jobs of every process. */
export const READING_JOBS_OF_EVERY_PROCESS: readonly OpenPart[] = [
  openFailingRounds,
  openFolder,
  openEventFolder,
  openSlotChecks,
]

/** The periodic jobs that do not run with ROLE=serve. */
export const READING_JOBS: readonly OpenPart[] = [openKeeping, openWaitingWatch]
