// The built dashboard in dist/: made at the start where it is missing or older than its sources.
import { execFile } from 'node:child_process'
import { access, constants, glob, readdir, rename, rm, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import type { Logger } from 'pino'
import { isRunning } from './ground/is-running.ts'
import { StartError } from './ground/start-error.ts'

const run = promisify(execFile)
const ROOT = dirname(import.meta.dirname)
const DIST = join(ROOT, 'dist')
/** What the dashboard is made of: its own files, the words it shares with the server, and what builds it. */
const SOURCES = ['src/web/**/*', 'src/contract/*.ts', 'src/**/api.ts', 'vite.config.ts', 'package-lock.json']

/** In a process of its own: what a build takes of memory, half a gigabyte, this one would keep for as long as it runs. */
async function buildInto(folder: string): Promise<void> {
  const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js')
  const config = join(ROOT, 'vite.config.ts')
  const flags = ['--config', config, '--outDir', folder, '--emptyOutDir', '--logLevel', 'error']
  try {
    await run(process.execPath, [vite, 'build', join(ROOT, 'src/web'), ...flags], { cwd: ROOT })
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    throw stderr === '' ? error : new Error(stripVTControlCharacters(stderr).trim(), { cause: error })
  }
}

const changedAt = async (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )

async function newest(): Promise<number> {
  let latest = 0
  for await (const path of glob(SOURCES, { cwd: ROOT })) latest = Math.max(latest, await changedAt(join(ROOT, path)))
  return latest
}

/** Takes away what builds have left whose process was killed. One that lives is still at it. */
async function clearDeadBuilds(): Promise<void> {
  for (const name of await readdir(ROOT)) {
    const pid = /^dist\.(\d+)(\.before)?$/.exec(name)?.[1]
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(ROOT, name), { recursive: true, force: true })
  }
}

const isCurrent = async (): Promise<boolean> => (await changedAt(join(DIST, 'index.html'))) > (await newest())

/** Puts a build in its place, unless a process that started at the same time has: visitors may be loading that one. */
async function put(fresh: string): Promise<void> {
  if (await isCurrent()) return rm(fresh, { recursive: true })
  const before = `${fresh}.before`
  await rename(DIST, before).catch(() => {})
  await rename(fresh, DIST)
  await rm(before, { recursive: true, force: true })
}

/**
 * Builds the dashboard unless `dist` is newer than its sources. It is built beside and renamed, so that a build which is
 * interrupted, or a second one, leaves no half of it and takes nothing away from the first.
 * @throws StartError when there is none and none can be made.
 */
export async function buildDashboard(log: Logger): Promise<void> {
  if ((await changedAt(join(ROOT, 'src/web/index.html'))) === 0) return
  if (await isCurrent()) return
  const built = await changedAt(join(DIST, 'index.html'))
  const fresh = `${DIST}.${process.pid}`
  try {
    await access(ROOT, constants.W_OK)
    await buildInto(fresh)
    await put(fresh)
  } catch (error) {
    await rm(fresh, { recursive: true, force: true }).catch(() => {})
    const why = (error instanceof Error ? error.message : String(error)).split(/\s*\n\s*/, 4).join(' ')
    if (built === 0) {
      throw new StartError(
        `the dashboard could not be built into ${DIST}: ${why}; build it as a user who may write there: npm run build`,
      )
    }
    log.warn({ err: error }, 'the dashboard is older than its sources and could not be built again')
  } finally {
    // At the end, because the build itself outlives a killed process and only then begins to write.
    await clearDeadBuilds().catch(() => {})
  }
}
