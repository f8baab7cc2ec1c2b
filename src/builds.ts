// What Sluice builds of its sources: the dashboard in dist/ and the bundled server in dist-server/. A start makes what is missing or older than
// its sources.
import { execFile } from 'node:child_process'
import { access, constants, readdir, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import type { Logger } from 'pino'
import { isRunning } from './ground/is-running.ts'
import { StartError } from './ground/start-error.ts'
import { changedAt, isServerBundled, newestSource, SERVER } from './server-bundle.ts'

const runFile = promisify(execFile)
const ROOT = dirname(import.meta.dirname)
/** As old as the dashboard's build, and not there without one. */
const PAGE = join(ROOT, 'dist/index.html')

type Build = {
  /** Beside package.json. */
  folder: string
  /** Whether `folder` is newer than its sources. */
  isCurrent: () => boolean
  /** One of its sources: an installation without it can build nothing, and is not asked to. */
  needs: string
  /** The program that builds, and its arguments, of which it adds the folder. */
  program: (folder: string) => [program: string, ...rest: string[]]
}

/** The dashboard's own files, what it shares with the server, and what builds it. */
function isDashboardCurrent(): boolean {
  const built = changedAt(PAGE)
  if (built === 0) return false
  const others = ['vite.config.ts', 'package-lock.json'].map(name => changedAt(join(ROOT, name)))
  const isPart = (path: string) => /^src\/(web|contract)\/|\/api\.ts$/.test(path)
  return built > Math.max(newestSource(isPart), ...others)
}

const programOf = (name: string, path: string): string =>
  join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), path)

const DASHBOARD: Build = {
  folder: 'dist',
  isCurrent: isDashboardCurrent,
  needs: 'src/web/index.html',
  program: folder => {
    const flags = ['--config', join(ROOT, 'vite.config.ts'), '--outDir', folder, '--emptyOutDir', '--logLevel', 'error']
    return [programOf('vite', 'bin/vite.js'), 'build', join(ROOT, 'src/web'), ...flags]
  },
}

const BUNDLED_SERVER: Build = {
  folder: SERVER,
  isCurrent: isServerBundled,
  needs: 'rolldown.config.ts',
  program: folder => {
    const flags = ['--config', join(ROOT, 'rolldown.config.ts'), '--dir', folder, '--log-level', 'warn']
    return [programOf('rolldown', 'bin/cli.mjs'), ...flags]
  },
}

/** In a process of its own: a build takes half a gigabyte of memory, which this process would keep. */
async function buildInto(build: Build, folder: string): Promise<void> {
  try {
    await runFile(process.execPath, build.program(folder), { cwd: ROOT })
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string }
    throw stderr === '' ? error : new Error(stripVTControlCharacters(stderr).trim(), { cause: error })
  }
}

/** Removes the folders of builds whose process was killed. A process that still runs is still building. */
async function clearDeadBuilds({ folder }: Build): Promise<void> {
  for (const name of await readdir(ROOT)) {
    const pid = name.startsWith(`${folder}.`) ? /^\.(\d+)(\.before)?$/.exec(name.slice(folder.length))?.[1] : undefined
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(ROOT, name), { recursive: true, force: true })
  }
}

/** Puts the build `fresh` in its place, unless another process has meanwhile: that one may be in use. */
async function put(build: Build, fresh: string): Promise<void> {
  if (build.isCurrent()) return rm(fresh, { recursive: true })
  const before = `${fresh}.before`
  await rename(join(ROOT, build.folder), before).catch(() => {})
  await rename(fresh, join(ROOT, build.folder))
  await rm(before, { recursive: true, force: true })
}

/**
 * Builds it unless it is newer than its sources. It is built beside its folder and renamed, so that an interrupted build leaves the former one whole, and of
 * two builds at once the first one stays.
 * @returns why it could not be built.
 */
async function keepCurrent(build: Build): Promise<Error | undefined> {
  if (changedAt(join(ROOT, build.needs)) === 0) return undefined
  if (build.isCurrent()) return undefined
  const fresh = join(ROOT, `${build.folder}.${process.pid}`)
  try {
    await access(ROOT, constants.W_OK)
    await buildInto(build, fresh)
    await put(build, fresh)
    return undefined
  } catch (error) {
    await rm(fresh, { recursive: true, force: true }).catch(() => {})
    return error instanceof Error ? error : new Error(String(error))
  } finally {
    // At the end, because the build outlives a killed process and only then begins to write.
    await clearDeadBuilds(build).catch(() => {})
  }
}

/**
 * Builds the dashboard unless `dist` is newer than its sources.
 * @throws StartError when there is none and none can be made.
 */
export async function buildDashboard(log: Logger): Promise<void> {
  const built = changedAt(PAGE)
  const failed = await keepCurrent(DASHBOARD)
  if (failed === undefined) return
  if (built === 0) {
    const why = failed.message.split(/\s*\n\s*/, 4).join(' ')
    throw new StartError(
      `the dashboard could not be built into ${join(ROOT, DASHBOARD.folder)}: ${why}; build it as a user who may write there: npm run build`,
    )
  }
  log.warn({ err: failed }, 'the dashboard is older than its sources and could not be built again')
}

/** Bundles the server for the next start, unless `dist-server` is newer than its sources. Without a bundle Sluice runs from its sources. */
export async function bundleServer(log: Logger): Promise<void> {
  const failed = await keepCurrent(BUNDLED_SERVER)
  if (failed !== undefined)
    log.warn({ err: failed }, 'the server could not be bundled; it starts from its sources, which takes longer')
}
