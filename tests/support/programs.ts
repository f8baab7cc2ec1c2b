// Programs that tests need and npm cannot install. As root on Debian they are installed; elsewhere a message asks for them.
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

export type Program =
  | 'chromium'
  | 'chromium-headless-shell'
  | 'redis-server'
  | 'systemd-analyze'
  | 'systemd-socket-activate'
  | 'nginx'
  | 'caddy'
  | 'openssl'
  | 'pebble'

const names: Record<Program, string[]> = {
  'chromium-headless-shell': ['chromium-headless-shell'],
  chromium: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
  'redis-server': ['redis-server', 'valkey-server'],
  'systemd-analyze': ['systemd-analyze'],
  'systemd-socket-activate': ['systemd-socket-activate'],
  nginx: ['nginx'],
  caddy: ['caddy'],
  openssl: ['openssl'],
  // Debian's package includes pebble-challtestsrv.
  pebble: ['pebble'],
}

function inPath(name: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map(folder => join(folder, name))
    .find(path => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

/** The path of the program, or undefined. */
export function findProgram(program: Program): string | undefined {
  for (const name of names[program]) {
    const path = inPath(name)
    if (path !== undefined) return path
  }
  return undefined
}

/** Ends the process with one line if a program is missing and cannot be installed. */
export function requirePrograms(programs: readonly Program[]): void {
  const missing = programs.filter(program => findProgram(program) === undefined)
  if (missing.length === 0) return
  const why = process.getuid?.() === 0 && inPath('apt-get') !== undefined ? install(missing) : 'they are not installed'
  if (why === undefined) return
  console.error(`The tests need ${missing.join(' and ')}: ${why}. On Debian: apt-get install ${missing.join(' ')}`)
  process.exit(1)
}

/** Installs the programs if possible; tests of missing ones are skipped with a reason. */
export function wantPrograms(programs: readonly Program[]): void {
  const missing = programs.filter(program => findProgram(program) === undefined)
  if (missing.length > 0 && process.getuid?.() === 0 && inPath('apt-get') !== undefined) install(missing)
}

/** Undefined if all of them are there now, else the reason. */
function install(missing: readonly Program[]): string | undefined {
  console.log(`Installing ${missing.join(' and ')} for the tests`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = (...rest: string[]) => spawnSync('apt-get', ['-qq', ...rest], { env, encoding: 'utf8' })
  const wanted = ['install', '-y', '--no-install-recommends', ...missing]
  let done = apt(...wanted)
  if (done.status !== 0) {
    apt('update')
    done = apt(...wanted)
  }
  return missing.every(program => findProgram(program) !== undefined)
    ? undefined
    : done.stderr.trim().split('\n').at(-1) || 'apt-get failed'
}
