/** Opens what Explore scans with: local files in DATA_DIR/explore and the process that reads them, which is begun by the first question. */
import { join } from 'node:path'
import type { Ground } from '../../ground/room.ts'
import { openEngine } from './engine.ts'
import type { Explorer } from './explore.ts'
import { openFiles } from './files.ts'

export function openExplorer({ config, log }: Pick<Ground, 'config' | 'log'>): Explorer & { close(): Promise<void> } {
  const folder = join(config.dataDir, 'explore')
  const engine = openEngine(folder, log)
  return { engine, folder, files: openFiles(folder), close: () => engine.close() }
}
