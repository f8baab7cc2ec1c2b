// The version before a migration, from the repository's history, to run beside the current one as during an upgrade.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

const git = (...words: string[]): string =>
  execFileSync('git', ['-C', ROOT, ...words], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/** The last commit without this migration; undefined if the history does not go back that far. */
export function commitBefore(migration: string): string | undefined {
  try {
    const added = git('log', '--diff-filter=A', '--format=%H', '--', `migrations/${migration}`).split('\n').at(-1) ?? ''
    return git('rev-parse', '--verify', `${added}^`)
  } catch {
    return undefined
  }
}

/** Puts the server of a commit into a folder, with the packages installed here; `end` removes it. */
export function checkOut(commit: string): { main: string; end(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-before-'))
  const archive = execFileSync('git', ['-C', ROOT, 'archive', commit, 'src', 'migrations', 'scripts', 'package.json'], {
    maxBuffer: 256 * 1024 * 1024,
  })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  // Without the dashboard, so that it is not built.
  rmSync(join(folder, 'src/web/index.html'))
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return { main: join(folder, 'src/main.ts'), end: () => rmSync(folder, { recursive: true, force: true }) }
}
