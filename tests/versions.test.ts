// Runs the tests of conversions, deliveries, folding and reports on each installed version of PostgreSQL.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { CLUSTER } from './support/database.ts'
import { createOwnCluster, installedVersions, ownersFolder, startOwnPostgres } from './support/own-postgres.ts'

const ROOT = join(import.meta.dirname, '..')
const FILES = [
  'src/ground/db/migrate.test.ts',
  'src/intake/clicks/partitions.test.ts',
  'src/intake/clicks/retention.test.ts',
  'src/intake/events/events.test.ts',
  'src/intake/events/races.test.ts',
  'src/outgoing/deliveries/breaker.test.ts',
  'src/outgoing/deliveries/claim.test.ts',
  'src/reading/audit/audit.test.ts',
  'src/reading/feed/feed.test.ts',
  'src/reading/reports/report.test.ts',
]

const skip = process.env['SLUICE_TEST_ALL'] === '1' ? false : 'npm run test:all runs it'

test('a PostgreSQL 15 or newer is installed beside the embedded one', { skip }, t => {
  if (installedVersions.length === 0) t.skip('none is: apt-get install postgresql')
})

for (const { major, bin } of installedVersions)
  test(`PostgreSQL ${major} passes the same tests as the embedded one`, { skip }, async () => {
    const folder = ownersFolder(join(tmpdir(), `sluice-postgres-${major}-${process.pid}`))
    const home = ownersFolder(join(folder, 'postgres'))
    const data = join(home, 'data')
    await createOwnCluster(data, bin)
    const server = await startOwnPostgres(data, ['max_connections=200', 'fsync=off'], bin)
    try {
      const child = spawn(process.execPath, ['--test', '--test-concurrency=1', ...FILES], {
        cwd: ROOT,
        env: { ...process.env, [CLUSTER]: folder, NODE_TEST_CONTEXT: undefined },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const said = await text(child.stdout)
      assert.match(said, /^ℹ fail 0$/m, said)
      assert.match(said, /^ℹ pass [1-9]\d+$/m)
    } finally {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  })
