import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import { pino } from 'pino'
import { type FreshDatabase, freshDatabase } from '../../tests/support/database.ts'
import { openTestHouse } from '../../tests/support/house.ts'
import { seedPlace } from '../../tests/support/place.ts'
import { connect } from '../ground/db/connect.ts'
import { readLastBackup } from '../ground/db/last-runs.ts'
import { listMigrations, migrate, missingMigrations } from '../ground/db/migrate.ts'
import { secretHere } from '../ground/db/secrets.ts'
import { StartError } from '../ground/start-error.ts'
import { takeBackup } from './backup.ts'
import { type BackupLine, type BackupPart, readBackup, SIGNATURE_BYTES, writeBackup } from './file.ts'
import { checkBackup, checkFolder, restoreBackup } from './restore.ts'
import { listRelations, listTables } from './tables.ts'

const SECRET = 'a secret that only tests know'
const secret = secretHere({ secret: SECRET, dataDir: '' }) ?? assert.fail()
const otherSecret = secretHere({ secret: 'a secret of somebody else', dataDir: '' }) ?? assert.fail()

let ends: (() => unknown)[] = []
let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-backup-'))
  path = join(folder, 'one.backup')
  ends.push(() => rmSync(folder, { recursive: true, force: true }))
})
afterEach(async () => {
  for (const end of ends.reverse()) await end()
  ends = []
})

async function clientOf(connection: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  await client.connect()
  ends.push(() => client.end())
  return client
}

/** An empty database on the server of the tests. */
async function emptyDatabase(connection: pg.ClientConfig): Promise<pg.Client> {
  const name = `t_empty_${process.pid}_${randomBytes(4).toString('hex')}`
  const admin = await clientOf({ ...connection, database: 'postgres' })
  await admin.query(`create database ${name} template template0`)
  ends.push(() => admin.query(`drop database ${name} with (force)`))
  return clientOf({ ...connection, database: name })
}

/** A database with rows of a used house. */
async function used(): Promise<{ connection: pg.ClientConfig; client: pg.Client }> {
  const fresh = await usedDatabase()
  ends.push(() => fresh.drop())
  return { connection: fresh.connection, client: await clientOf(fresh.connection) }
}

async function usedDatabase(): Promise<FreshDatabase> {
  const fresh = await freshDatabase()
  const house = await openTestHouse(fresh.database, { SECRET })
  await seedPlace(fresh.database, 'used')
  assert.equal((await house.call('GET', '/c/used?sub1=a%09b%0Ac%5C')).statusCode, 302)
  await house.end()
  return fresh
}

/** A checksum and a count of each table's rows, without the time of the last backup. */
async function sums(client: pg.Client): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const { name } of await listTables(client)) {
    const { rows } = await client.query<{ sum: string }>(
      `select md5(coalesce(string_agg(t::text, E'\\n' order by t::text), '')) || ' ' || count(*) as sum from ${client.escapeIdentifier(name)} t
      where t::text not like '(last_backup,%'`,
    )
    found[name] = rows[0]?.sum ?? ''
  }
  return found
}

const back = async (target: pg.Client, dataDir: string) => {
  const contents = await checkBackup(path, secret)
  await restoreBackup(target, path, contents, dataDir)
  return contents
}

describe('a restored backup', () => {
  test('has every row of every table unchanged, with any content', async () => {
    const { connection, client } = await used()
    const odd = ['', '\\N', '\\.', 'tab\tline\nreturn\r\\ "quoted" {a,"b"}', '🜁 Ж 中', '\u0001']
    for (const [at, name] of odd.entries())
      await client.query(`insert into installation (name, value) values ($1, $2)`, [`odd ${at}`, name])
    await client.query(
      `insert into accounts (id, user_id, account_id, provider_id, created_at, updated_at, password)
      select gen_random_uuid(), id, repeat('x', 300000), 'x', now(), now(), null from users limit 1`,
    )
    // A row that is larger than a portion, and enough rows for many portions.
    await client.query(
      `insert into installation (name, value) select 'many ' || n, md5(n::text) from generate_series(1, 20000) n`,
    )
    await client.query(
      `create table clicks_2019_01 partition of clicks for values from ('01680690-0000-0000-0000-000000000000') to ('0168a5b0-0000-0000-0000-000000000000')`,
    )
    await client.query(`insert into tls_ticket_keys (day, key) values (current_date, 'sealed')`)
    const taken = await takeBackup(client, { path, folders: [], version: '1.2.3', secret })
    // With a key of TLS sessions, recorded traffic could be decrypted from the file and SECRET.
    await client.query('delete from tls_ticket_keys')
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.equal(await readLastBackup(client), taken.taken_at)
    const before = await sums(client)
    const target = await emptyDatabase(connection)
    const contents = await back(target, join(folder, 'data'))
    assert.deepEqual([contents.version, contents.taken_at, contents.rows], ['1.2.3', taken.taken_at, taken.rows])
    assert.deepEqual(await sums(target), before)
    assert.deepEqual(await listRelations(target), await listRelations(client))
    assert.equal(await readLastBackup(target), taken.taken_at)
    assert.match(before['clicks'] ?? '', / 1$/)
  })

  test('has the journal files of several data folders, and joins their refused clicks', async () => {
    const { connection, client } = await used()
    const folders = [join(folder, '1'), join(folder, '2'), join(folder, '3')]
    for (const one of folders.slice(0, 2)) {
      await mkdir(join(one, 'journal'), { recursive: true })
      writeFileSync(join(one, 'journal/refused.jsonl'), `of ${one.slice(-1)}\n`)
      writeFileSync(join(one, 'journal/reserve'), '\n')
    }
    const long = randomBytes(200_000)
    writeFileSync(join(folder, '2/journal/20261122T000000000Z-00000000.journal'), long)
    const { journals } = await takeBackup(client, { path, folders, version: '1', secret })
    assert.equal(journals, 3)
    const dataDir = join(folder, 'data')
    await back(await emptyDatabase(connection), dataDir)
    assert.deepEqual(readdirSync(join(dataDir, 'journal')).toSorted(), [
      '20261122T000000000Z-00000000.journal',
      'refused.jsonl',
    ])
    assert.equal(readFileSync(join(dataDir, 'journal/refused.jsonl'), 'utf8'), 'of 1\nof 2\n')
    assert.ok(readFileSync(join(dataDir, 'journal/20261122T000000000Z-00000000.journal')).equals(long))
  })

  test('of an earlier version is migrated to this one', async () => {
    const { connection } = await used()
    const client = await emptyDatabase(connection)
    await migrate(client, listMigrations().slice(0, -8))
    await client.query(`insert into installation (name, value) values ('kept', 'as it was')`)
    await takeBackup(client, { path, folders: [], version: '0', secret })
    const target = await emptyDatabase(connection)
    await back(target, join(folder, 'data'))
    assert.deepEqual(await missingMigrations(target), [])
    const { rows } = await target.query(`select value from installation where name = 'kept'`)
    assert.deepEqual(rows, [{ value: 'as it was' }])
  })
})

describe('a restore refuses, and changes nothing', () => {
  let fresh: FreshDatabase
  before(async () => {
    fresh = await usedDatabase()
  })
  after(() => fresh.drop())
  const place = async () => ({ connection: fresh.connection, client: await clientOf(fresh.connection) })

  const refused = (words: RegExp) => (error: Error) => {
    assert.ok(error instanceof StartError, String(error))
    assert.match(error.message, words)
    return true
  }

  /** Rewrites a good backup with changed parts, signed with the key of `secret` or another. */
  async function rewritten(
    change: (parts: BackupPart[]) => readonly BackupPart[],
    { backupKey } = secret,
  ): Promise<void> {
    const parts: BackupPart[] = []
    for await (const part of readBackup(path, secret.backupKey)) parts.push(part)
    rmSync(path)
    async function* changed() {
      yield* change(parts)
    }
    await writeBackup(path, changed(), backupKey)
  }

  /** Changes the first line that has a field of this name. */
  const withLine = (name: string, change: (line: BackupLine) => BackupLine) => (parts: BackupPart[]) => {
    const at = parts.findIndex(part => 'line' in part && part.line[name] !== undefined)
    const found = parts[at]
    assert.ok(found !== undefined && 'line' in found)
    return parts.with(at, { line: change(found.line) })
  }

  test('a database that is not empty, and a data folder with a journal', async () => {
    const { client } = await place()
    await takeBackup(client, { path, folders: [], version: '1', secret })
    const before = await sums(client)
    await assert.rejects(back(client, join(folder, 'data')), refused(/the database is not empty \(it has account/))
    assert.deepEqual(await sums(client), before)
    await mkdir(join(folder, 'data/journal'), { recursive: true })
    await checkFolder(join(folder, 'data'))
    writeFileSync(join(folder, 'data/journal/reserve'), '')
    await checkFolder(join(folder, 'data'))
    writeFileSync(join(folder, 'data/journal/x.journal'), '')
    await assert.rejects(checkFolder(join(folder, 'data')), refused(/journal is not empty/))
  })

  test('another SECRET, and a missing one', async () => {
    const { client } = await place()
    await takeBackup(client, { path, folders: [], version: '1', secret })
    await assert.rejects(
      checkBackup(path, otherSecret),
      refused(/was changed since it was made, or SECRET is not the one it was made with/),
    )
    await assert.rejects(
      checkBackup(path, undefined),
      refused(/there is no SECRET here: put the file `secret` of that installation/),
    )
    assert.equal(secretHere({ secret: undefined, dataDir: folder }), undefined)
    assert.deepEqual(readdirSync(folder), ['one.backup'], 'and none is made')
  })

  test('a file that was changed anywhere since it was made', async () => {
    const { client } = await place()
    await takeBackup(client, { path, folders: [], version: '1', secret })
    const whole = readFileSync(path)
    const changed = /was changed since it was made/
    const unsigned = /has no signature: it was cut off or changed, or an older version of Sluice made it/
    const isRefused = async (bytes: Buffer, words: RegExp, what: string) => {
      writeFileSync(path, bytes)
      await assert.rejects(checkBackup(path, secret), refused(words), what)
    }
    const signature = whole.length - SIGNATURE_BYTES
    // Of the compressed stream: its header with an unchecked time, its rows, its end. Of the signature: its name, its value, its end.
    for (const at of [0, 4, 9, 10, 100, signature >> 1, signature - 9, signature - 1, signature + 30, signature + 82]) {
      const bytes = Buffer.from(whole)
      bytes[at] = at > signature ? (bytes[at] === 0x30 ? 0x31 : 0x30) : (bytes[at] ?? 0) ^ 1
      await isRefused(bytes, changed, `byte ${at}`)
    }
    for (const at of [signature, signature + 18, whole.length - 1]) {
      const bytes = Buffer.from(whole)
      bytes[at] = 0x7a
      await isRefused(bytes, unsigned, `byte ${at}`)
    }
    for (const length of [0, 1, SIGNATURE_BYTES, 1000, signature >> 1, signature - 1, signature, whole.length - 1])
      await isRefused(whole.subarray(0, length), unsigned, `${length} bytes of it`)
    const more = gzipSync('{"journal":"a.journal"}\n')
    await isRefused(Buffer.concat([whole, Buffer.from('\n')]), unsigned, 'a byte behind it')
    await isRefused(Buffer.concat([whole, more]), unsigned, 'a stream behind it')
    await isRefused(Buffer.concat([whole, whole.subarray(signature)]), changed, 'its signature twice')
    const [stream, own] = [whole.subarray(0, signature), whole.subarray(signature)]
    await isRefused(Buffer.concat([stream, more, own]), changed, 'a stream in front of its signature')
    writeFileSync(path, whole)
    assert.equal((await checkBackup(path, secret)).version, '1', 'as it was, it is taken')
  })

  test('a file that was rewritten without SECRET, even during the restore', async () => {
    const { connection, client } = await place()
    await takeBackup(client, { path, folders: [], version: '1', secret })
    const whole = readFileSync(path)
    const another = withLine('sluice_backup', line => ({ ...line, version: '2' }))
    const swapped = (parts: BackupPart[]) => {
      const tables = parts.flatMap((part, at) => ('line' in part && part.line['table'] !== undefined ? [at] : []))
      const [first = 0, second = 0, third = 0] = tables.slice(-3)
      return [
        ...parts.slice(0, first),
        ...parts.slice(second, third),
        ...parts.slice(first, second),
        ...parts.slice(third),
      ]
    }
    for (const change of [another, swapped, (parts: BackupPart[]) => parts]) {
      writeFileSync(path, whole)
      await rewritten(change, otherSecret)
      await assert.rejects(checkBackup(path, secret), refused(/was changed since it was made/))
      await assert.rejects(checkBackup(path, secret, { unsigned: true }), refused(/was changed since it was made/))
    }
    writeFileSync(path, whole.subarray(0, -SIGNATURE_BYTES))
    await assert.rejects(checkBackup(path, secret), refused(/has no signature/))
    await assert.rejects(checkBackup(path, secret, { unsigned: true }), refused(/its signature is gone/))
    writeFileSync(path, whole)
    const contents = await checkBackup(path, secret)
    await rewritten(swapped, otherSecret)
    const target = await emptyDatabase(connection)
    await assert.rejects(
      restoreBackup(target, path, contents, join(folder, 'data')),
      refused(/was changed since it was made/),
    )
    assert.deepEqual(await listRelations(target), [])
  })

  test('a file of a version without signatures, unless --unsigned allows it; then it is restored', async () => {
    const { connection, client } = await place()
    await takeBackup(client, { path, folders: [], version: '0', secret })
    await rewritten(withLine('sluice_backup', line => ({ ...line, sluice_backup: 1 })))
    writeFileSync(path, readFileSync(path).subarray(0, -SIGNATURE_BYTES))
    await assert.rejects(checkBackup(path, secret), refused(/restore it with --unsigned after its name/))
    await assert.rejects(
      checkBackup(path, otherSecret, { unsigned: true }),
      refused(/SECRET is not the one this backup was made with/),
    )
    const target = await emptyDatabase(connection)
    const contents = await checkBackup(path, secret, { unsigned: true })
    await restoreBackup(target, path, contents, join(folder, 'data'))
    assert.deepEqual(await sums(target), await sums(client))
  })

  test('another SECRET at the start on a restored database', async () => {
    const { connection } = await place()
    const database = connect([connection], { log: pino({ level: 'silent' }) })
    ends.push(() => database.close())
    await assert.rejects(
      openTestHouse(database, { SECRET: 'a secret of somebody else' }),
      refused(/SECRET is not the one this database was made with/),
    )
  })

  test('a newer version of the file or of the database', async () => {
    const { client } = await place()
    await takeBackup(client, { path, folders: [], version: '9.0.0', secret })
    const newer = refused(/was made by a newer version of Sluice \(9.0.0\)/)
    await rewritten(
      withLine('database', line => {
        const shape = line['database'] as { migrations: object[] }
        return {
          database: { ...shape, migrations: [...shape.migrations, { number: 9999, name: 'later', checksum: 'x' }] },
        }
      }),
    )
    await assert.rejects(checkBackup(path, secret), newer)
    await rewritten(withLine('sluice_backup', line => ({ ...line, sluice_backup: 3 })))
    await assert.rejects(checkBackup(path, secret), newer)
  })

  test('an unsigned file that was cut off or changed, is no backup, or is missing', async () => {
    const { client } = await place()
    await takeBackup(client, { path, folders: [], version: '1', secret })
    const whole = readFileSync(path).subarray(0, -SIGNATURE_BYTES)
    const text = gunzipSync(whole)
    const wrong: [string, Buffer, RegExp][] = [
      ['cut off', whole.subarray(0, -100), /is no complete backup/],
      [
        'cut off and packed again',
        gzipSync(text.subarray(0, -80)),
        /is no complete backup: (it ends too early|a line)/,
      ],
      [
        'changed',
        gzipSync(Buffer.from(text.toString('latin1').replace('Campaign', 'Campaing'), 'latin1')),
        /its checksum/,
      ],
      ['not packed', text, /is no complete backup: incorrect header/],
      ['empty', Buffer.alloc(0), /is no complete backup/],
      ['another file', gzipSync('{"a":1}\n{"sha256":"x"}\n'), /its checksum/],
    ]
    for (const [name, bytes, words] of wrong) {
      writeFileSync(path, bytes)
      await assert.rejects(checkBackup(path, secret, { unsigned: true }), refused(words), name)
    }
    rmSync(path)
    await assert.rejects(checkBackup(path, secret), refused(/cannot be read: ENOENT/))
  })

  test('nothing of a failed restore remains: tables, types, journals', async () => {
    const { connection, client } = await place()
    await mkdir(join(folder, '1/journal'), { recursive: true })
    writeFileSync(join(folder, '1/journal/a.journal'), 'clicks')
    await takeBackup(client, { path, folders: [join(folder, '1')], version: '1', secret })
    await rewritten(parts =>
      parts.map(part =>
        'line' in part && part.line['table'] === 'ledger' ? { line: { ...part.line, columns: ['id'] } } : part,
      ),
    )
    const target = await emptyDatabase(connection)
    await assert.rejects(back(target, join(folder, 'data')))
    assert.deepEqual(await listRelations(target), [])
    assert.deepEqual(readdirSync(join(folder, 'data/journal')), [])
    rmSync(path)
    await takeBackup(client, { path, folders: [], version: '1', secret })
    await back(target, join(folder, 'data'))
    assert.deepEqual(await sums(target), await sums(client), 'and the place is as good as before')
  })

  test('file names with paths, and unknown partitions', async () => {
    const { connection, client } = await place()
    await takeBackup(client, { path, folders: [], version: '1', secret })
    await rewritten(withLine('database', line => ({ ...line, journal: '../../../x.journal' })))
    const target = await emptyDatabase(connection)
    await assert.rejects(back(target, join(folder, 'data')), refused(/a journal called/))
    assert.deepEqual(await listRelations(target), [])
  })
})

describe('a backup refuses', () => {
  test('an existing file, another backup in progress, another SECRET, and a database without Sluice, and leaves no file', async () => {
    const { connection, client } = await used()
    const take = (of: pg.Client) => takeBackup(of, { path, folders: [], version: '1', secret })
    await assert.rejects(take(await emptyDatabase(connection)), /there is no Sluice in this database yet/)
    writeFileSync(`${path}.unfinished`, '')
    await assert.rejects(take(client), /one.backup.unfinished exists: another backup is being written/)
    rmSync(`${path}.unfinished`)
    assert.equal(await readLastBackup(client), undefined)
    await take(client)
    const first = readFileSync(path)
    await assert.rejects(take(client), /one.backup already exists: name another file/)
    assert.ok(readFileSync(path).equals(first))
    path = join(folder, 'two.backup')
    await assert.rejects(
      takeBackup(client, { path, folders: [], version: '1', secret: otherSecret }),
      /SECRET is not the one this database was made with, so its backup could not be restored/,
    )
    path = join(folder, 'nowhere/one.backup')
    await assert.rejects(take(client), /cannot be written: ENOENT/)
    assert.deepEqual(readdirSync(folder), ['one.backup'])
  })
})
