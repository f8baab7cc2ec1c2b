// `npm run check`: types, lint and format, in parallel. Prints only the errors.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const ROOT = join(import.meta.dirname, '..')
/** Separate projects, because they run in the browser or under Playwright. */
const projects = ['src/web', 'tests/browser'].filter(folder => existsSync(join(ROOT, folder, 'tsconfig.json')))

const checks: [name: string, program: string, ...rest: string[]][] = [
  ['types', 'tsc', '--noEmit'],
  ...projects.map((folder): [string, string, ...string[]] => [`types of ${folder}`, 'tsc', '--noEmit', '-p', folder]),
  ['lint', 'oxlint', '--type-aware', '--deny-warnings', '--quiet'],
  ['format', 'biome', 'format', '--colors=off'],
]

async function runCheck([name, program, ...rest]: (typeof checks)[number]): Promise<boolean> {
  const child = spawn(join(ROOT, 'node_modules/.bin', program), rest, { cwd: ROOT })
  const closed = once(child, 'close')
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  const passed = child.exitCode === 0
  console.log(passed ? `${name}: fine` : `${name}: wrong\n${out}${errors}`)
  return passed
}

const results = await Promise.all(checks.map(runCheck))
process.exitCode = results.every(Boolean) ? 0 : 1
