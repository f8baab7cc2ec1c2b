// What `npm start` gives Node: how soon it collects what is no longer needed, which decides the memory of a busy process.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  scripts: { start: string }
}

/** For whoever starts Sluice without npm and means the same. */
export const START_FLAGS: readonly string[] = scripts.start.split(' ').filter(word => word.startsWith('--'))
