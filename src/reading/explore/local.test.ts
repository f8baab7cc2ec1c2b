// The local copy of facts, with processes that share its folder: whatever happens to its files, answers equal the database.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { seedExplored } from '../../../tests/support/explored.ts'
import { newId, seedOrganization, startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { aClick, seedCampaign } from '../../../tests/support/visits.ts'
import { refuse } from '../../contract/refusals.ts'
import { storeClicks } from '../../intake/clicks/store.ts'
import { TEXTS } from '../segments/facts.ts'
import { sealAll } from '../segments/seal.ts'
import { copyNamed, DEFINITION, layoutOf } from './copy-file.ts'
import { type Ask, type Engine, openEngine } from './engine.ts'
import { type Files, openFiles } from './files.ts'
import { bringFacts, keptSheetsOf } from './local.ts'
import type { LocalFacts } from './scan.ts'
import { readSnapshot } from './snapshot.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-local-'))
const log = pino({ level: 'silent' })
let house: TestHouse
before(async () => {
  // The house does not seal, merge or check in the background: the test does.
  house = await startHouse({ ROLE: 'serve' })
})
after(async () => {
  await house.end()
  rmSync(folder, { recursive: true, force: true })
})

const NOON = Date.UTC(2026, 2, 2, 12)
const WINDOW = { from: Date.UTC(2026, 2, 1), to: Date.UTC(2026, 2, 8) - 1 }
const DAYS = { first: '2026-03-01', last: '2026-03-07' }
const files = openFiles(folder)
/** Files of a process that must not need any. */
const none: Files = { ...files, fetch: () => assert.fail('nothing is missing') }

const copiesOf = (org_id: number) => readdirSync(join(folder, String(org_id))).filter(name => name.endsWith('.duckdb'))

const SNAPSHOT = { hash: () => 0n, wantsTies: false, wantsSpend: false, most_waiting: 1000, most_fresh: 1000 }
const LIMITS = { texts: TEXTS, most_words: 1000, priced_at_once: 1000 }

function openProcess() {
  const engine = openEngine(folder, log, { question_ms: 60_000, isBehind: false })
  return {
    close: () => engine.close(),
    /** How many clicks the copy has, and how many calls it took to copy them. */
    count: (org_id: number, from: Files = files) =>
      brought(engine, org_id, { files: from, ...LIMITS }, async (ask, facts) => {
        const [row] = await ask(`select coalesce(sum(sign), 0)::integer as clicks from ${facts.from}`)
        return Number(row?.['clicks'])
      }),
    /** How many clicks there are by a column. */
    async counts(org_id: number, column: string): Promise<object> {
      const { told } = await brought(engine, org_id, { files, ...LIMITS }, (ask, facts) =>
        ask(
          `select ${column} as key, sum(sign)::integer as clicks from ${facts.from} group by 1 having sum(sign) <> 0`,
        ),
      )
      return Object.fromEntries(told.map(({ key, clicks }) => [String(key), Number(clicks)]))
    },
    /** How many unsealed sheets the next question reads, and how many the copy has already. */
    sheets: (org_id: number) =>
      engine.run(org_id, async ask => {
        const known = keptSheetsOf(ask, org_id)
        const { fresh } = await readSnapshot(house.database.reads, org_id, WINDOW, { ...SNAPSHOT, known })
        return { read: fresh.length, kept: known.size }
      }),
    /** The columns of all tables of the copy. */
    async columns(org_id: number): Promise<readonly string[]> {
      const { told } = await brought(engine, org_id, { files, ...LIMITS }, ask =>
        ask(`select column_name as name from duckdb_columns() where database_name = 'o${org_id}'`),
      )
      return told.map(({ name }) => String(name))
    },
    /** Fails for lack of memory at the first statement that matches. */
    failing: (org_id: number, most_words: number, at: RegExp) =>
      engine.run(org_id, async ask => {
        const { reads } = house.database
        const snapshot = await readSnapshot(reads, org_id, WINDOW, { ...SNAPSHOT, known: new Map() })
        const short = (sql: string) => (at.test(sql) ? refuse('question_too_wide') : ask(sql))
        const asking = Object.assign(async (sql: string) => short(sql), { process: ask.process })
        await bringFacts(asking, { files, ...LIMITS, most_words, reads }, { folder, org_id }, { ...snapshot, ...DAYS })
      }),
    /** Whether two columns have numbers for their words. */
    async numbered(org_id: number, most_words: number): Promise<readonly string[]> {
      const names = ['geo', 'sub5'] as const
      const { told } = await brought(engine, org_id, { files, ...LIMITS, most_words }, async (_, facts) =>
        names.filter(name => facts.numbered(name) !== undefined),
      )
      return told
    },
  }
}

async function brought<T>(
  engine: Engine,
  org_id: number,
  from: { files: Files } & typeof LIMITS,
  read: (ask: Ask, facts: LocalFacts) => Promise<T>,
): Promise<{ told: T; turns: number }> {
  const { reads } = house.database
  for (let turns = 1; ; turns += 1) {
    const answer = await engine.run(org_id, async ask => {
      const snapshot = await readSnapshot(reads, org_id, WINDOW, { ...SNAPSHOT, known: keptSheetsOf(ask, org_id) })
      const facts = await bringFacts(ask, { ...from, reads }, { folder, org_id }, { ...snapshot, ...DAYS })
      return typeof facts === 'string' ? facts : { told: await read(ask, facts) }
    })
    if (typeof answer === 'object') return { told: answer.told, turns }
    assert.equal(answer, 'more')
  }
}

/** Stores clicks that nothing has sealed, in one sheet. */
async function storeUnsealed(org_id: number, campaign_id: string, count: number): Promise<void> {
  const clicks = Array.from({ length: count }, (_, at) => ({
    ...aClick(house.ground.secrets.clickKey, org_id, { campaign_id }),
    id: newId(NOON + at),
  }))
  await storeClicks(house.database.clicks, clicks)
}

const seed = (org_id: number, count: number) =>
  seedExplored(
    house.database,
    org_id,
    Array.from({ length: count }, (_, at) => ({ at: NOON + at, sub5: `word ${at}` })),
  )
/** Replaces a segment with the same facts under another id, like merging. */
const replace = (org_id: number) =>
  house.database.worker.query('update segments set id = md5(id::text)::uuid where org_id = $1', [org_id])

/** Makes segments larger by unused bytes between their columns and their footer, which is found from the end of the file. */
async function enlarge(org_id: number, bytes: number): Promise<void> {
  const { worker } = house.database
  const { rows } = await worker.query<{ id: string; body: Buffer }>('select id, body from segments where org_id = $1', [
    org_id,
  ])
  for (const { id, body } of rows) {
    const footer = body.length - 8 - body.readUInt32LE(body.length - 8)
    const larger = Buffer.concat([body.subarray(0, footer), Buffer.alloc(bytes), body.subarray(footer)])
    await worker.query('update segments set body = $3 where org_id = $1 and id = $2', [org_id, id, larger])
  }
}

test('a copy outlives its process, and segments that were replaced meanwhile are replaced in it', async () => {
  const { org_id } = await seedOrganization(house.database)
  await seed(org_id, 7)
  const one = openProcess()
  assert.deepEqual(await one.count(org_id), { told: 7, turns: 1 })
  assert.deepEqual(await one.count(org_id, none), { told: 7, turns: 1 })
  await one.close()
  const next = openProcess()
  assert.deepEqual(await next.count(org_id, none), { told: 7, turns: 1 })
  await replace(org_id)
  await seed(org_id, 5)
  assert.deepEqual(await next.count(org_id), { told: 12, turns: 1 })
  assert.equal(copiesOf(org_id).length, 1)
  await next.close()
})

test('an unsealed sheet is read by one question, stays in the copy for the next ones, and leaves it when it is sealed', async () => {
  const { org_id } = await seedOrganization(house.database)
  const { id } = await seedCampaign(house.database, org_id)
  await seed(org_id, 2)
  await storeUnsealed(org_id, id, 4)
  const one = openProcess()
  assert.deepEqual(await one.sheets(org_id), { read: 1, kept: 0 })
  assert.deepEqual(await one.count(org_id), { told: 6, turns: 1 })
  assert.deepEqual(await one.sheets(org_id), { read: 0, kept: 1 })
  await storeUnsealed(org_id, id, 3)
  assert.deepEqual(await one.sheets(org_id), { read: 1, kept: 1 })
  assert.deepEqual(await one.count(org_id), { told: 9, turns: 1 })
  await sealAll(house.database.worker, house.ground.secrets)
  assert.deepEqual(await one.count(org_id), { told: 9, turns: 1 })
  assert.deepEqual(await one.sheets(org_id), { read: 0, kept: 0 })
  await storeUnsealed(org_id, id, 1)
  assert.deepEqual(await one.count(org_id), { told: 10, turns: 1 })
  await one.close()
  const next = openProcess()
  assert.deepEqual(await next.count(org_id), { told: 10, turns: 1 }, 'the next process reads them again')
  await next.close()
})

test('many segments are copied a portion at a time', async () => {
  const { org_id } = await seedOrganization(house.database)
  await seed(org_id, 7)
  await house.database.worker.query('update segments set rows = 200000 where org_id = $1', [org_id])
  const one = openProcess()
  assert.deepEqual(await one.count(org_id), { told: 7, turns: 3 })
  await one.close()
})

test('words of a column have numbers as long as they are few, in every copy', async () => {
  const { org_id } = await seedOrganization(house.database)
  await seed(org_id, 10)
  const one = openProcess()
  assert.deepEqual(await one.numbered(org_id, 10), ['geo', 'sub5'])
  assert.deepEqual(await one.numbered(org_id, 9), ['geo', 'sub5'], 'nothing new has come')
  await seed(org_id, 11)
  assert.deepEqual(await one.numbered(org_id, 10), ['geo'])
  await one.close()
  const next = openProcess()
  assert.deepEqual(await next.numbered(org_id, 1000), ['geo'], 'and are not begun again')
  assert.deepEqual(await next.count(org_id, none), { told: 21, turns: 1 })
  await next.close()
})

test('words of a column with long texts have no numbers, and are counted all the same', async () => {
  const { org_id } = await seedOrganization(house.database)
  const long = (letter: string) => letter.repeat(3_000_000)
  const clicks = (subs: readonly string[]) => subs.map((sub5, at) => ({ at: NOON + at, geo: 'DE', sub5 }))
  await seedExplored(house.database, org_id, clicks([long('a'), long('b'), 'c']))
  const one = openProcess()
  assert.deepEqual(await one.numbered(org_id, 1000), ['geo', 'sub5'])
  await seedExplored(house.database, org_id, clicks([long('d'), 'c']))
  assert.deepEqual(await one.numbered(org_id, 1000), ['geo'])
  assert.deepEqual(await one.counts(org_id, 'sub5'), { [long('a')]: 1, [long('b')]: 1, c: 2, [long('d')]: 1 })
  await one.close()
})

test('a copy that a question has no memory for is as before', async () => {
  const { org_id } = await seedOrganization(house.database)
  await seed(org_id, 10)
  const one = openProcess()
  assert.deepEqual(await one.numbered(org_id, 10), ['geo', 'sub5'])
  await seed(org_id, 11)
  await assert.rejects(one.failing(org_id, 10, /^insert into \w+\.facts /), { refusal: 'question_too_wide' })
  assert.deepEqual(await one.numbered(org_id, 1000), ['geo', 'sub5'])
  assert.deepEqual(await one.count(org_id, none), { told: 21, turns: 1 })
  await one.close()
})

test('segments are copied by size, however few rows they have', async () => {
  const { org_id } = await seedOrganization(house.database)
  await seed(org_id, 7)
  await enlarge(org_id, 9_000_000)
  const one = openProcess()
  assert.deepEqual(await one.count(org_id), { told: 7, turns: 3 })
  await one.close()
})

test('segments of an earlier version are read, and a text that they lack is unknown', async () => {
  const { org_id } = await seedOrganization(house.database)
  const clicks = (count: number, ref_id: string) =>
    Array.from({ length: count }, (_, at) => ({ at: NOON + at, geo: 'DE', ref_id }))
  await seedExplored(house.database, org_id, clicks(7, 'before'), 3, ['ref_id', 'conversions'])
  const one = openProcess()
  assert.deepEqual(await one.counts(org_id, 'ref_id'), { null: 7 }, 'alone')
  await seedExplored(house.database, org_id, clicks(2, 'now'))
  assert.deepEqual(await one.counts(org_id, 'ref_id'), { null: 7, now: 2 })
  assert.deepEqual(await one.counts(org_id, 'geo'), { DE: 9 })
  await one.close()
})

test('concurrent processes have a copy each, without facts of another organization', async () => {
  const [{ org_id }, other] = [await seedOrganization(house.database), await seedOrganization(house.database)]
  await seed(org_id, 7)
  await seed(other.org_id, 2)
  const [one, two] = [openProcess(), openProcess()]
  const counts = await Promise.all([one, two].flatMap(each => [each.count(org_id), each.count(other.org_id)]))
  assert.deepEqual(
    counts.map(({ told }) => told),
    [7, 2, 7, 2],
  )
  assert.equal(copiesOf(org_id).length, 2)
  await Promise.all([one.close(), two.close()])
})

test('a broken copy is removed, and so is one of an earlier version, but not one of a later version', async () => {
  const { org_id } = await seedOrganization(house.database)
  await seed(org_id, 7)
  const one = openProcess()
  await one.count(org_id)
  await one.close()
  const [broken = ''] = copiesOf(org_id)
  writeFileSync(join(folder, String(org_id), broken), 'x'.repeat(20_000))
  const before = Math.floor(performance.timeOrigin) - 1
  const [counted, other, later] = [
    `facts.4.${newId(before)}.duckdb`,
    `facts.0123456789ab.${newId(before)}.duckdb`,
    `facts.0123456789ab.${newId()}.duckdb`,
  ]
  for (const name of [counted, other, later]) writeFileSync(join(folder, String(org_id), name), '')
  const next = openProcess()
  assert.deepEqual(await next.count(org_id), { told: 7, turns: 1 })
  const left = copiesOf(org_id)
  assert.deepEqual(
    [broken, counted, other, later].map(name => left.includes(name)),
    [false, false, false, true],
  )
  assert.equal(left.length, 2)
  await next.close()
})

test('the name of a copy changes with every column of every table in it', async () => {
  const { org_id } = await seedOrganization(house.database)
  await seed(org_id, 1)
  const one = openProcess()
  const columns = await one.columns(org_id)
  await one.close()
  const [name = ''] = copiesOf(org_id)
  const layout = copyNamed(name)?.layout
  assert.equal(layout, layoutOf(DEFINITION))
  assert.ok(columns.length > 60)
  for (const column of columns) {
    const changed = DEFINITION.replaceAll(new RegExp(`\\b${column}\\b`, 'g'), `${column}_changed`)
    assert.notEqual(layoutOf(changed), layout, column)
  }
})
