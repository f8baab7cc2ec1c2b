/** Opens Explore: its local files in DATA_DIR/explore and the scanning process, which the first question starts. */
import { join } from 'node:path'
import type { Ground } from '../../ground/room.ts'
import { openEngine } from './engine.ts'
import { EXPLORE_LIMITS, type ExploreLimits, type Explorer } from './explorer.ts'
import { openFiles } from './files.ts'
import { openSweep } from './sweep.ts'

/** `given`: limits other than the usual ones, for tests. */
export function openExplorer(
  { config, database, log }: Pick<Ground, 'config' | 'database' | 'log'>,
  given: Partial<ExploreLimits> = {},
): Explorer & { close(): Promise<void> } {
  const folder = join(config.dataDir, 'explore')
  const limits = { ...EXPLORE_LIMITS, ...given }
  const engine = openEngine(folder, log, { ...limits, isBehind: database.isBehind })
  const sweeping = openSweep({ database, log }, folder)
  return {
    engine,
    folder,
    files: openFiles(folder),
    limits,
    async close() {
      await Promise.all([engine.close(), sweeping.close()])
    },
  }
}
