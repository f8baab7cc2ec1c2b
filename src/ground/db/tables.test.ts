import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { generateTables } from '../../../scripts/tables.ts'

test('the types of the tables match the migrations', async () => {
  const committed = await readFile(join(import.meta.dirname, 'tables.ts'), 'utf8')
  assert.ok(committed === (await generateTables()), 'run node scripts/tables.ts after a migration')
})
