/** Why a process that can serve is nevertheless not well, in words for whoever watches it. Each reason also has a metric and an alert rule. */
import { statfs } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Ground } from '../ground/room.ts'
import { isOfAnotherNode } from '../ground/db/faults.ts'
import { failingAtLeast } from '../ground/round-watch.ts'
import { clickStates } from '../intake/clicks/metrics.ts'

/** Fewer failures in a row are normal, such as a missed lock or a broken connection. */
const MANY_FAILURES = 3
/** The limits of `SluiceDiskNearlyFull` and `SluiceRatesOld` in deploy/prometheus-alerts.yml. */
const LEAST_FREE = 0.1
const OLD_RATES = '2 days'

/** @throws if the database does not answer. */
export async function readDegradations({ config, database }: Pick<Ground, 'config' | 'database'>): Promise<string[]> {
  const [oldRates, isDiskFull] = await Promise.all([
    readOldRates(database),
    statfs(config.dataDir).then(
      ({ bavail, blocks }) => bavail / blocks < LEAST_FREE,
      () => false,
    ),
  ])
  const reasons = ofClicks()
  if (isDiskFull) reasons.push('the disk of DATA_DIR has less than a tenth of its space free')
  for (const { round } of failingAtLeast(MANY_FAILURES)) reasons.push(`the periodic job ${round} keeps failing`)
  if (oldRates === undefined) reasons.push('the first node of the cluster does not answer')
  for (const { source } of oldRates ?? []) reasons.push(`the exchange rates of ${source} are more than two days old`)
  return reasons
}

/** The sources with old rates. Undefined if another node of a cluster answers, but not the first one, which has them. */
async function readOldRates({ kysely, nodes }: Ground['database']): Promise<{ source: string }[] | undefined> {
  try {
    const { rows } = await sql<{ source: string }>`
      select source from fx_sources where fetched_at < now() - ${OLD_RATES}::interval order by source`.execute(kysely)
    return rows
  } catch (error) {
    if (nodes > 1 && isOfAnotherNode(error)) return undefined
    throw error
  }
}

function ofClicks(): string[] {
  const states = clickStates()
  const reasons: string[] = []
  if (states.some(({ is_down }) => is_down))
    reasons.push('the database takes no clicks, they are written to the journal')
  else if (states.some(({ journal_files }) => journal_files > 0))
    reasons.push('clicks of the journal wait to be stored')
  if (states.some(({ is_reserve_missing }) => is_reserve_missing))
    reasons.push('the journal has no reserve for a full disk')
  return reasons
}
