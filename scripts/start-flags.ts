// The Node options of `npm start`: they control garbage collection, and so the memory of a busy process.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  scripts: { start: string }
}

/** For starts without npm. */
export const START_FLAGS: readonly string[] = scripts.start.split(' ').filter(word => word.startsWith('--'))
