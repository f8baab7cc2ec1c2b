// The process that keeps segments starts with the first click, restarts when killed, and ends with its parent.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { type FreshDatabase, freshDatabase } from '../../../tests/support/database.ts'
import { eventually } from '../../../tests/support/eventually.ts'
import { openTestHouse, type TestHouse } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'
import { startProxy } from '../../../tests/support/proxy.ts'
import { sessionPriority } from '../../../tests/support/session-priority.ts'
import { assertSealed, readSegments } from '../../../tests/support/segments.ts'
import { aClick } from '../../../tests/support/visits.ts'
import { storeClicks } from '../../intake/clicks/store.ts'
import { openKeeping } from './keeping.ts'

let fresh: FreshDatabase
let house: TestHouse
const dataDir = mkdtempSync(join(tmpdir(), 'sluice-keeping-'))
/** The keepers of other houses in this process. */
let others: readonly number[] = []
/** The child processes that keep segments for this file. */
const keepers = (): number[] => allKeepers().filter(pid => !others.includes(pid))
const allKeepers = (): number[] =>
  readdirSync('/proc/self/task')
    .flatMap(task => readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number))
    .filter(pid => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('keeping-child'))

before(async () => {
  others = allKeepers()
  fresh = await freshDatabase()
  house = await openTestHouse(fresh.database, { DATA_DIR: dataDir, ROLE: 'serve' })
})
after(async () => {
  await house.close()
  await fresh.drop()
  rmSync(dataDir, { recursive: true, force: true })
})

test('clicks are sealed by a child process, which is restarted when killed and ends with its parent', async () => {
  const { org_id } = await seedSignedIn(house)
  const store = () => storeClicks(fresh.database.clicks, [aClick(house.ground.secrets.clickKey, org_id)])
  const sealed = (count: number) =>
    eventually(`${count} segments`, async () => (await readSegments(fresh.database, org_id)).length === count)
  await using open = new AsyncDisposableStack()
  const keeping = openKeeping({ ...house.ground, database: { ...fresh.database, isBehind: true } }, 20)
  open.defer(() => keeping.close())
  assert.deepEqual(keepers(), [], 'there is no click')

  await store()
  await sealed(1)
  const [first] = keepers()
  assert.ok(first !== undefined && getPriority(first) > getPriority(), 'it runs behind')
  if (sessionPriority(first) !== undefined)
    await eventually('its session too', () => sessionPriority(first) === getPriority(first))
  const said = readFileSync(`/proc/${first}/environ`, 'utf8') + readFileSync(`/proc/${first}/cmdline`, 'utf8')
  assert.doesNotMatch(said, /postgres|secret/i)

  const measured = async (name: string) => {
    const { body } = await house.call('GET', '/metrics')
    return Number(new RegExp(`^sluice_child_process_${name}\\{process="sealing"\\} (\\d+)$`, 'm').exec(body)?.[1])
  }
  assert.ok((await measured('resident_memory_bytes')) > 10_000_000)
  const [starts, crashes] = [await measured('starts_total'), await measured('crashes_total')]
  await store()
  process.kill(first, 'SIGKILL')
  await sealed(2)
  assert.deepEqual([await measured('starts_total'), await measured('crashes_total')], [starts + 1, crashes + 1])
  const [second] = keepers()
  assert.ok(second !== undefined && second !== first)
  await assertSealed(fresh.database, house.ground.secrets, org_id)

  process.kill(second, 'SIGTERM')
  process.kill(second, 'SIGINT')
  await keeping.close()
  assert.deepEqual(keepers(), [])
})

test('closing ends a process that is still starting', async () => {
  const { org_id } = await seedSignedIn(house)
  await storeClicks(fresh.database.clicks, [aClick(house.ground.secrets.clickKey, org_id)])
  // Its database does not answer, so that it cannot begin its jobs before it is stopped.
  const proxy = await startProxy(fresh.connection)
  proxy.set('freeze')
  const database = { ...fresh.database, addresses: [proxy.connection] }
  const keeping = openKeeping({ ...house.ground, database }, 1)
  await eventually('it starts', () => keepers().length === 1)
  for (const pid of keepers()) process.kill(pid, 'SIGSTOP')
  await keeping.close()
  assert.deepEqual(keepers(), [])
  await proxy.close()
})

test('a process that cannot start is retried with a log line each time, and does not delay closing', async () => {
  const said: string[] = []
  const log = pino({ level: 'error' }, { write: line => void said.push(line) })
  const { config, database } = house.ground
  const keeping = openKeeping(
    { config: { ...config, secret: 'another secret than the one of the database' }, database, log },
    20,
  )
  await eventually('it has ended twice', () => said.filter(line => line.includes('restarting it')).length >= 2)
  await keeping.close()
  assert.deepEqual(keepers(), [])
})
