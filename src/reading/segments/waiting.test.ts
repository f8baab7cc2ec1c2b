// What monitoring, the log and the nightly recount say about unsealed clicks and about days that differ.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { eventually } from '../../../tests/support/eventually.ts'
import { newId, startHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { aClick } from '../../../tests/support/visits.ts'
import { storeClicks } from '../../intake/clicks/store.ts'
import { reconcileAll } from '../audit/reconcile.ts'
import { checkSegments } from './check.ts'
import { sealAll } from './seal.ts'
import { openWaitingWatch } from './waiting.ts'

let house: TestHouse
before(async () => {
  // The house neither seals nor checks in the background: the test does.
  house = await startHouse({ ROLE: 'serve' })
})
after(() => house.end())

const store = (org_id: number, count: number) =>
  storeClicks(
    house.database.clicks,
    Array.from({ length: count }, () => aClick(house.ground.secrets.clickKey, org_id)),
  )
const measured = async () => {
  const { body } = await house.call('GET', '/metrics')
  return Number(/^sluice_explore_waiting_clicks (\d+)$/m.exec(body)?.[1])
}
const write = (text: string, values: unknown[]) => house.database.worker.query(text, values)
const MANY = `insert into click_sheet (org_id, id, born) select $1, $2, array_agg($2::uuid) from generate_series(1, 100001)`

test('monitoring shows the unsealed clicks, and the log has one warning where there are very many', async () => {
  const { org_id } = await seedSignedIn(house)
  const lines: string[] = []
  const log = pino({}, { write: line => void lines.push(line) })
  const told = () => lines.filter(line => line.includes('wait to be sealed')).map(line => JSON.parse(line))
  await store(org_id, 7)
  const watch = openWaitingWatch({ database: house.database, log }, 20)
  try {
    await eventually('seven wait', async () => (await measured()) === 7)
    await sealAll(house.database.worker, house.ground.secrets)
    await eventually('none waits', async () => (await measured()) === 0)
    assert.deepEqual(told(), [])
    await write(MANY, [org_id, newId()])
    await eventually('the log says so', async () => told().length > 0)
    await store(org_id, 1)
    await eventually('it was looked again', async () => (await measured()) === 100_002)
    await write('delete from click_sheet where org_id = $1', [org_id])
    await eventually('none waits', async () => (await measured()) === 0)
    assert.deepEqual(
      told().map(line => [line.level, line.org_id, line.waiting]),
      [[40, org_id, 100_001]],
    )
  } finally {
    await watch.close()
    await write('delete from clicks where org_id = $1', [org_id])
    await write('delete from segments where org_id = $1', [org_id])
    await write('delete from counter_sheet where org_id = $1', [org_id])
    await write('delete from report_day where org_id = $1', [org_id])
  }
})

test('the recount of the books names days of Explore that differ, and says that very many clicks wait', async () => {
  const { org_id } = await seedSignedIn(house)
  const reconciled = async () => {
    const lines: string[] = []
    const wrong = await reconcileAll(house.database.worker, line => lines.push(line.trim()))
    return { wrong, lines: lines.filter(line => /Explore/.test(line)) }
  }
  const right = { wrong: 0, lines: [] }
  await store(org_id, 3)
  assert.deepEqual(await reconciled(), right, 'what waits is sealed in a moment')
  await sealAll(house.database.worker, house.ground.secrets)
  assert.deepEqual(await reconciled(), right)
  const day = new Date().toISOString().slice(0, 10)
  await write('update segments set revenue = revenue + 1 where org_id = $1', [org_id])
  const words = `so: Explore counts what the report counts: ${day}`
  // The first check rebuilds it.
  assert.deepEqual(await reconciled(), { wrong: 0, lines: [`not yet ${words}`] })
  await write('update explore_turns set checked_at = now() where org_id = $1', [org_id])
  assert.deepEqual(await reconciled(), { wrong: 1, lines: [`not ${words}`] })
  await house.ground.database.worker.query('update segments set revenue = revenue - 1 where org_id = $1', [org_id])
  await checkSegments(house.ground)
  assert.deepEqual(await reconciled(), right)
  await write(MANY, [org_id, newId()])
  assert.deepEqual(await reconciled(), { wrong: 0, lines: ['100001 clicks and changes wait to be sealed for Explore'] })
})
