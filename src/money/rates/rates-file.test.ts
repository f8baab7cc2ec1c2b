import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { freshDatabase } from '../../../tests/support/database.ts'
import { runSluice } from '../../../tests/support/sluice.ts'
import { readRatesFile } from './rates-file.ts'

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let folder: string
before(async () => {
  fresh = await freshDatabase()
  folder = await mkdtemp(join(tmpdir(), 'sluice-rates-'))
})
after(async () => {
  await fresh.drop()
  await rm(folder, { recursive: true })
})

async function importFile(csv: string) {
  const file = join(folder, 'rates.csv')
  await writeFile(file, csv)
  return await runSluice({ DATABASE_URL: fresh.url, DATA_DIR: folder }, { command: 'rates', given: ['import', file] })
}

const stored = async () =>
  (
    await fresh.database.worker.query<{ line: string }>(
      "select concat_ws(',', day, currency, usd_per_unit, source) as line from fx_rates order by 1",
    )
  ).rows.map(({ line }) => line)

test('the command takes a file in whole, the same file again changes nothing, and one that says otherwise is refused whole', async () => {
  const first = await importFile('\ufeffday,currency,usd_per_unit\n2026-03-02,EUR,1.0812\n2026-03-02,rub,0.0123\n')
  assert.deepEqual([first.code, first.stdout], [0, 'Read 2 rates, 2 of them new.\n'], first.stderr)
  const kept = ['2026-03-02,EUR,1.0812,import', '2026-03-02,RUB,0.0123,import']
  assert.deepEqual(await stored(), kept)
  const again = await importFile('currency,usd_per_unit,day\nEUR,1.08120,2026-03-02\n')
  assert.deepEqual([again.code, again.stdout], [0, 'Read 1 rates, 0 of them new.\n'])
  const otherwise = await importFile('day,currency,usd_per_unit\n2026-03-03,EUR,1.09\n2026-03-02,EUR,1.1\n')
  assert.equal(otherwise.code, 1)
  assert.match(
    otherwise.stderr,
    /^The import of rates failed: .*an imported rate cannot change: line 3: 1\.0812 is stored\n$/,
  )
  const wrong = await importFile('day,currency,usd_per_unit\n2026-03-03,EUR,1.09\n2026-03-04,EUR,0\n')
  assert.equal(wrong.code, 1)
  assert.match(wrong.stderr, /line 3: usd_per_unit must be a decimal above zero/)
  assert.deepEqual(await stored(), kept)
})

test('without a file, or with one that is not there, it says what is missing', async () => {
  const unsaid = await runSluice({ DATABASE_URL: fresh.url, DATA_DIR: folder }, { command: 'rates' })
  assert.equal(unsaid.code, 1)
  assert.match(unsaid.stderr, /name the file: npm run rates -- import FILE/)
  const absent = await runSluice(
    { DATABASE_URL: fresh.url, DATA_DIR: folder },
    { command: 'rates', given: ['import', join(folder, 'none.csv')] },
  )
  assert.equal(absent.code, 1)
  assert.match(absent.stderr, /none\.csv cannot be read/)
})

test('a line that cannot be read is named', () => {
  const cases: [string, RegExp][] = [
    ['currency,usd_per_unit\nEUR,1\n', /its first line must have the titles day,currency,usd_per_unit/],
    ['day,currency,usd_per_unit\n', /there are no lines below the titles/],
    ['day,currency,usd_per_unit\n2026-02-30,EUR,1\n', /line 2: “2026-02-30” is not a day/],
    ['day,currency,usd_per_unit\n2026-02-28,USD,1\n', /line 2: “USD” is not the code of a currency other than USD/],
    ['day,currency,usd_per_unit\n2026-02-28,EUR,"1,1"\n', /line 2: usd_per_unit must be a decimal/],
    ['day,currency,usd_per_unit\n2026-02-28,EUR,1\n2026-02-28,EUR,2\n', /line 3: line 2 has another rate of EUR/],
    ['day,currency,usd_per_unit\n"2026-02-28,EUR,1\n', /Quote Not Closed/],
  ]
  for (const [csv, words] of cases) assert.throws(() => readRatesFile(csv), words)
})
