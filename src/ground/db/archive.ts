/**
 * The archive of the embedded server's log (ARCHIVE_DIR), from which the database is restored to a moment. Each data folder has its own folder in
 * ARCHIVE_DIR, with `log` for compressed segments and `copies` for copies of the database. A restored data folder gets another one, because two servers
 * that wrote to the same archive would destroy it.
 */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, lchownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { otherOwner } from '../folder-owner.ts'
import { StartError } from '../start-error.ts'
import { type Owner, userName } from './programs.ts'

/** The longest time that a committed row is not in the archive. */
const ARCHIVED_AFTER_S = 60

/** Holds the name of this data folder's folder in ARCHIVE_DIR. */
const NAME_FILE = 'archive-name'

/** This data folder's folder in ARCHIVE_DIR. Undefined if it has never archived. */
export function findArchive(archiveDir: string, dataDir: string): string | undefined {
  const path = join(dataDir, NAME_FILE)
  return existsSync(path) ? join(archiveDir, readFileSync(path, 'utf8').trim()) : undefined
}

/** Creates the data folder's archive if there is none. @throws StartError if ARCHIVE_DIR is missing, or the server's user cannot write there */
export function prepareArchive(archiveDir: string, dataDir: string, owner: Owner): string {
  if (!existsSync(archiveDir))
    throw new StartError(`there is no folder ${archiveDir}: create it, or change ARCHIVE_DIR`)
  const archive = findArchive(archiveDir, dataDir) ?? join(archiveDir, nameArchive(dataDir))
  for (const folder of [archive, join(archive, 'log'), join(archive, 'copies')]) {
    if (existsSync(folder)) continue
    try {
      mkdirSync(folder, { mode: 0o700 })
      if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid)
    } catch (error) {
      throw new StartError(`ARCHIVE_DIR cannot be written: ${(error as Error).message}`)
    }
  }
  if (spawnSync('test', ['-w', join(archive, 'log')], { ...owner, cwd: '/' }).status !== 0)
    throw new StartError(
      `PostgreSQL, which runs as ${userName(owner.uid ?? process.getuid?.() ?? 0)}, cannot write to ${archive}: let that user open ARCHIVE_DIR`,
    )
  return archive
}

function nameArchive(dataDir: string): string {
  const name = `${new Date().toISOString().slice(0, 10)}-${randomBytes(4).toString('hex')}`
  const path = join(dataDir, NAME_FILE)
  writeFileSync(path, `${name}\n`, { flush: true })
  const other = otherOwner(dataDir)
  if (other) lchownSync(path, other.uid, other.gid)
  return name
}

/** A path as a word of the shell, in a command in which PostgreSQL replaces `%p` and `%f`. */
const quoted = (path: string): string => `'${path.replaceAll("'", `'\\''`).replaceAll('%', '%%')}'`

/**
 * The server's settings to archive its log. A segment is in the archive completely or not at all. After a crash the server may archive a segment
 * again, which succeeds only if it is the same.
 */
export function archiveSettings(archive: string): string[] {
  const log = quoted(join(archive, 'log'))
  const again = `gzip -cd ${log}/%f.gz | cmp -s - %p`
  const first = `gzip -1c %p > ${log}/%f.unfinished && sync ${log}/%f.unfinished && mv ${log}/%f.unfinished ${log}/%f.gz && sync ${log}`
  return [
    'wal_level=replica',
    'archive_mode=on',
    `archive_timeout=${ARCHIVED_AFTER_S}s`,
    `archive_command=if test -e ${log}/%f.gz; then ${again}; else ${first}; fi`,
  ]
}

/** Whether the last attempt of the server to archive its log failed; null if it archives none. A subquery of one row. */
export const ARCHIVING_FAILS = `
  select case when current_setting('archive_mode') <> 'off'
    then coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) end as archiving_fails
  from pg_stat_archiver`

/** The server's settings to recover from the archive up to a moment (ISO 8601), or to its end. */
export function recoverySettings(archive: string, moment: string | undefined): string[] {
  const log = quoted(join(archive, 'log'))
  // The server does not know names of zones yet when it reads its settings.
  return [
    `restore_command=test -e ${log}/%f.gz && gzip -cd ${log}/%f.gz > %p`,
    ...(moment === undefined ? [] : [`recovery_target_time=${moment.replace(/z$/i, '+00')}`]),
    'recovery_target_action=promote',
    // So that the server is ready only once it has recovered.
    'hot_standby=off',
  ]
}
