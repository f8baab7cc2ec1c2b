// A backup of a cluster, and a restore into one, even if only the coordinator's address is given.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { takeBackup } from '../../src/backup/backup.ts'
import { restoreBackup } from '../../src/backup/restore.ts'
import { secretHere } from '../../src/ground/db/secrets.ts'
import { freshDatabase } from '../support/database.ts'
import { isSharded } from '../support/sharded.ts'

const skip = isSharded ? false : 'npm run test:citus gives it a cluster'
const secret = secretHere({ secret: 'a secret that only tests know', dataDir: '' }) ?? assert.fail()

test('neither a backup nor a restore begins on a cluster, and each says what to do instead', { skip }, async () => {
  const fresh = await freshDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'sluice-backup-'))
  const client = new pg.Client(fresh.connection)
  try {
    await client.connect()
    const path = join(folder, 'one.backup')
    await assert.rejects(
      takeBackup(client, { path, folders: [], version: '1', secret }),
      /a cluster, whose nodes are backed up one by one: see docs\/scaling\.md/,
    )
    const shape = { migrations: [], partitions: [], fingerprint: null }
    const contents = { shape, key: undefined, version: '1', taken_at: '', tables: 0, rows: 0, journals: [] }
    await assert.rejects(restoreBackup(client, path, contents, folder), /a cluster: restore into one server/)
    assert.deepEqual(readdirSync(folder), [])
  } finally {
    await client.end()
    rmSync(folder, { recursive: true })
    await fresh.drop()
  }
})
