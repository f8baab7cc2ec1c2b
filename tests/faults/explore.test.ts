// Explore under faults: after kills during sealing, merging and answering, the next answers are exact.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sealAll } from '../../src/reading/segments/seal.ts'
import { assertBooks } from '../support/audit.ts'
import { anyVisit, asker, assertExactAnswers, cookieOf, hasty, secretsOf } from '../support/explore-processes.ts'
import { type FaultGround, faultGround } from '../support/fault-ground.ts'
import { Load } from '../support/load.ts'
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts'
import { assertSealed } from '../support/segments.ts'
import type { Sluice } from '../support/sluice.ts'

const isWhole = process.env['SLUICE_FAULT_SECONDS'] !== undefined
const KILLS = isWhole ? 50 : 2
/** The longest life of a process once it is open. */
const LIFE_MS = 1500
const SENDERS = isWhole ? 8 : 2
/** Between two questions of a person; the long form does not pause. */
const PAUSE_MS = isWhole ? 0 : 300
const QUESTIONS = isWhole ? 4 : 2
/** Kills per burst, one process after another at random moments. */
const KILLS_OF_A_BURST = isWhole ? 4 : 2

const folder = mkdtempSync(join(tmpdir(), 'sluice-explore-faults-'))
const folderOf = (number: number) => join(folder, String(number))
const filesOf = (number: number) => join(folderOf(number), 'explore')

let postgres: TestPostgres
let ground: FaultGround
const processes: Sluice[] = []
before(async () => {
  postgres = await startTestPostgres()
  ground = await faultGround(postgres.database, postgres.url, 2)
  for (const number of [0, 1]) processes.push(await start(number))
})
after(async () => {
  await ground.end()
  await postgres.end()
  rmSync(folder, { recursive: true, force: true })
})

const startOnce = (number: number) =>
  ground.start(number, { DATA_DIR: folderOf(number), ...hasty({ seal: 100, merge: 300 }) })
/** On a busy machine the crashed PostgreSQL may take longer to recover than a start waits. Then it is started again, as by a supervisor. */
const start = (number: number) =>
  startOnce(number).catch((error: Error) => {
    if (!error.message.includes('cannot be reached')) throw error
    return startOnce(number)
  })
const any = () => Math.floor(Math.random() * processes.length)
const address = () => processes[any()]?.address ?? assert.fail()

/** Waits until both processes and PostgreSQL are back. */
async function untilReady(): Promise<void> {
  const deadline = performance.now() + 60_000
  const isReady = async () => {
    const told = await Promise.all(
      processes.map(one =>
        fetch(`${one.address}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      ),
    )
    const isOpen = await postgres.database.worker.query('select 1').then(
      () => true,
      () => false,
    )
    return isOpen && told.every(ok => ok)
  }
  while (!(await isReady())) {
    assert.ok(performance.now() < deadline, 'they do not recover by themselves')
    await sleep(50)
  }
}

/** Deletes the files of a running process. */
const takeFiles = (number: number) => rmSync(filesOf(number), { recursive: true, force: true, maxRetries: 20 })

test(`${KILLS} times a process is killed under load, with PostgreSQL and the local files: every later answer is exact`, async t => {
  const { database } = postgres
  const secrets = await secretsOf(database)
  const cookies = await Promise.all(ground.targets.map(target => cookieOf(database, secrets, target)))
  const load = new Load({ address, patience_ms: 20_000, visit: anyVisit })
  let [kills, crashes, taken, asked] = [0, 0, 0, 0]
  for (let burst = 0; kills < KILLS; burst += 1) {
    let isOver = false
    const running = loadUntil(load, () => isOver)
    const questions = askOn(cookies, () => !isOver)
    for (let turn = 0; turn < KILLS_OF_A_BURST && kills < KILLS; turn += 1) {
      await sleep(Math.random() * LIFE_MS)
      const number = any()
      if (turn === 1 && burst % 3 === 0) {
        postgres.crash()
        crashes += 1
      }
      await processes[number]?.kill()
      kills += 1
      if (turn === 0) {
        takeFiles(number)
        taken += 1
      }
      processes[number] = await start(number)
      if (turn === 2) {
        takeFiles(number)
        taken += 1
      }
    }
    isOver = true
    await Promise.all([running, questions])
    await untilReady()
    for (const [at, { org_id }] of ground.targets.entries()) {
      const ask = asker(address, cookies[at] ?? '')
      await assertExactAnswers(ask, database, org_id, QUESTIONS)
      asked += QUESTIONS
    }
  }
  const { rows } = await database.worker.query<{ clicks: string; segments: string }>(
    'select (select count(*) from clicks) as clicks, (select count(*) from segments) as segments',
  )
  t.diagnostic(
    `${kills} kills, ${crashes} crashes of PostgreSQL, files taken ${taken} times; ${asked} questions; ${JSON.stringify(rows[0])}, ${load.events.size} conversions`,
  )
  await load.enough(ground.targets)
  await Promise.all(processes.map(one => one.stop()))
  await sealAll(database.worker, secrets)
  await assertBooks(database.reads)
  for (const { org_id } of ground.targets) await assertSealed(database, secrets, org_id)
})

async function loadUntil(load: Load, isOver: () => boolean): Promise<void> {
  do await load.run(performance.now() + LIFE_MS, SENDERS, ground.targets)
  while (!isOver())
}

/** Questions while processes die: a running process answers or refuses. */
async function askOn(cookies: readonly string[], isOn: () => boolean): Promise<void> {
  const levels = [{ dimension: 'sub1' }, { dimension: 'os' }]
  const now = Date.now()
  const window = {
    date_from: new Date(now - 3_600_000).toISOString(),
    date_to: new Date(now + 3_600_000).toISOString(),
  }
  const one = async (cookie: string) => {
    const to = address()
    const headers = { cookie, origin: to, 'content-type': 'application/json' }
    const body = JSON.stringify({ ...window, levels, measures: ['clicks', 'unique_visitors'] })
    const answer = await fetch(`${to}/api/explore`, { method: 'POST', headers, body }).catch(() => undefined)
    if (answer === undefined || answer.status === 503) {
      await sleep(20)
      return
    }
    const told = await answer.text().catch(() => 'cut off')
    // Long, because starting processes all the time makes the machine slow.
    if (!told.includes('question_too_wide')) assert.equal(answer.status, 200, told)
    await sleep(PAUSE_MS)
  }
  const go = async (cookie: string) => {
    while (isOn()) await one(cookie)
  }
  await Promise.all([...cookies, ...cookies].map(go))
}
