/**
 * Copies of the embedded database in its archive, from which a restore to a moment begins. A copy is taken while the server runs, by its backup
 * functions, because the package has no pg_basebackup. The files of a copy are compressed one by one; `copy.json` is written last.
 */
import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { constants, createGunzip, createGzip } from 'node:zlib'
import type pg from 'pg'
import { DAY_MS } from '../contract/days.ts'
import { sqlState } from '../ground/db/faults.ts'
import { StartError } from '../ground/start-error.ts'
import { UNFINISHED } from './file.ts'

const run = promisify(execFile)

/** Folders whose files belong to the running server only. */
const EMPTIED = new Set([
  'pg_wal',
  'pg_replslot',
  'pg_dynshmem',
  'pg_notify',
  'pg_serial',
  'pg_snapshots',
  'pg_stat_tmp',
  'pg_subtrans',
])
/** Files of the running server, and temporary ones. */
const LEFT_OUT = /(^|\/)(postmaster\.(pid|opts)|\.s\.PGSQL\.[^/]*|pg_internal\.init[^/]*|pgsql_tmp[^/]*)$/
const LABEL = 'backup_label'
const CONTENTS = 'copy.json'
const QUERY_CANCELED = '57014'
/** The wait for the log of the copy to be archived. */
const ARCHIVED_WITHIN = '5min'

/** `finished_at` by the database's clock: the first moment to which the copy can be restored. `first_segment` of the log is needed for it. */
type DatabaseCopy = {
  readonly folder: string
  readonly finished_at: string
  readonly first_segment: string
  readonly folders: readonly string[]
}

/**
 * Copies the database of the running server, whose files are in `root`, into the archive, and returns the copy.
 * @throws StartError if the server does not archive its log
 */
export async function takeCopy(client: pg.ClientBase, root: string, archive: string): Promise<DatabaseCopy> {
  const { rows } = await client.query<{ mode: string }>(`select current_setting('archive_mode') as mode`)
  if (rows[0]?.mode !== 'on')
    throw new StartError(
      'the running PostgreSQL was started without ARCHIVE_DIR: set it for Sluice too, and restart Sluice',
    )
  const now = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  const folder = join(archive, 'copies', now)
  const unfinished = `${folder}${UNFINISHED}`
  await mkdir(unfinished, { mode: 0o700 })
  try {
    await client.query('set statement_timeout = 0')
    await client.query('select pg_backup_start($1, true)', [`sluice ${now}`])
    const folders: string[] = []
    await copyFolder(root, '', unfinished, folders)
    const { label, finished_at } = await stopCopy(client)
    await pipeline(
      Readable.from([label]),
      createGzip(),
      createWriteStream(join(unfinished, `${LABEL}.gz`), { mode: 0o600 }),
    )
    const first_segment = /^START WAL LOCATION: .*\(file (\w{24})\)$/m.exec(label)?.[1] ?? ''
    const copy = { finished_at, first_segment, folders }
    await writeFile(join(unfinished, CONTENTS), JSON.stringify(copy), { mode: 0o600 })
    await run('sync', ['-f', unfinished])
    await rename(unfinished, folder)
    await run('sync', ['-f', folder])
    return { folder, ...copy }
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
}

/** Ends the copy and waits until its log is archived, because without that log it is worth nothing. */
async function stopCopy(client: pg.ClientBase): Promise<{ label: string; finished_at: string }> {
  await client.query(`set statement_timeout = '${ARCHIVED_WITHIN}'`)
  const { rows } = await client
    .query<{ label: string; finished_at: string }>(
      `select labelfile as label, to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as finished_at from pg_backup_stop(true)`,
    )
    .catch((error: unknown) => {
      throw sqlState(error) === QUERY_CANCELED
        ? new StartError('PostgreSQL cannot archive its log: postgres.log in DATA_DIR says why')
        : error
    })
  return rows[0] ?? { label: '', finished_at: '' }
}

/** Copies the files below `root`/`path`, and adds the folders to `folders`. Files that disappear meanwhile are in the log. */
async function copyFolder(root: string, path: string, target: string, folders: string[]): Promise<void> {
  for (const entry of await readdir(join(root, path), { withFileTypes: true })) {
    const inner = join(path, entry.name)
    if (LEFT_OUT.test(inner)) continue
    if (entry.isDirectory()) {
      folders.push(inner)
      await mkdir(join(target, inner), { mode: 0o700 })
      if (!EMPTIED.has(inner)) await copyFolder(root, inner, target, folders)
    } else if (entry.isFile()) {
      const out = createWriteStream(join(target, `${inner}.gz`), { mode: 0o600 })
      await pipeline(createReadStream(join(root, inner)), createGzip({ level: constants.Z_BEST_SPEED + 2 }), out).catch(
        async (error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT' || error.path !== join(root, inner)) throw error
          await rm(join(target, `${inner}.gz`), { force: true })
        },
      )
    }
  }
}

/** The complete copies of an archive, oldest first. @throws StartError if the folder is no archive */
export async function listCopies(archive: string): Promise<DatabaseCopy[]> {
  const names = await readdir(join(archive, 'copies')).catch(() => {
    throw new StartError(
      `${archive} is no archive of Sluice: name its folder in ARCHIVE_DIR, such as ARCHIVE_DIR/2026-11-26-1a2b3c4d`,
    )
  })
  const complete = names.filter(name => !name.endsWith(UNFINISHED)).toSorted()
  return Promise.all(
    complete.map(async name => {
      const folder = join(archive, 'copies', name)
      return { folder, ...(JSON.parse(await readFile(join(folder, CONTENTS), 'utf8')) as Omit<DatabaseCopy, 'folder'>) }
    }),
  )
}

/** Keeps the newest `keep` copies and the log from the oldest of them on. Removes the rest, and unfinished copies that are a day old. */
export async function removeOldCopies(archive: string, keep: number): Promise<void> {
  for (const name of await readdir(join(archive, 'copies'))) {
    const path = join(archive, 'copies', name)
    if (name.endsWith(UNFINISHED) && Date.now() - (await stat(path)).mtimeMs > DAY_MS)
      await rm(path, { recursive: true })
  }
  const copies = await listCopies(archive)
  for (const { folder } of copies.slice(0, -keep)) {
    // A copy that is half removed must not look complete.
    await rename(folder, `${folder}${UNFINISHED}`)
    await rm(`${folder}${UNFINISHED}`, { recursive: true })
  }
  const oldest = copies.slice(-keep)[0]?.first_segment
  if (oldest === undefined) return
  for (const name of await readdir(join(archive, 'log'))) {
    // The first eight characters are the timeline. Files of its history have no more, and are kept.
    const segment = /^(\w{8})(\w{16})\b/.exec(name)?.[2]
    if (segment !== undefined && segment < oldest.slice(8)) await rm(join(archive, 'log', name))
  }
}

/** Unpacks a copy into an empty folder. `give` gives each file and folder to the server's user. */
export async function unpackCopy(
  { folder, folders }: DatabaseCopy,
  target: string,
  give: (path: string) => Promise<void>,
): Promise<void> {
  for (const inner of folders) {
    await mkdir(join(target, inner), { mode: 0o700 })
    await give(join(target, inner))
  }
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.gz')) continue
    const from = join(entry.parentPath, entry.name)
    const to = join(target, from.slice(folder.length, -'.gz'.length))
    await pipeline(createReadStream(from), createGunzip(), createWriteStream(to, { mode: 0o600 }))
    await give(to)
  }
}
