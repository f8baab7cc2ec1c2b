// Invite links while processes are killed: none is given to two clicks, and at most the links held by dead processes are lost.
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { type FaultGround, faultGround, IS_LONG } from '../support/fault-ground.ts'
import { seedChannel, seedLinks } from '../support/invite-links.ts'
import type { Sluice } from '../support/sluice.ts'
import { BROWSER, seedCampaign } from '../support/visits.ts'

let fresh: FreshDatabase
let ground: FaultGround
before(async () => {
  fresh = await freshDatabase()
  ground = await faultGround(fresh.database, fresh.url, 0)
})
after(async () => {
  await ground.end()
  await fresh.drop()
})

const KILLS = IS_LONG ? 8 : 2
const LINKS = 900 * KILLS
const VISITORS = 16
const VISITS = 250 * KILLS

test('processes are killed under load: no link is given to two clicks, and only links held by dead processes are lost', async () => {
  const db = fresh.database.kysely
  const org_id = randomInt(1, 2 ** 31 - 1)
  const { id } = await seedChannel(db, org_id)
  await seedLinks(db, org_id, id, { count: LINKS })
  const channel = { type: 'channel', channel_id: id, open: 'direct', link_host: 't.me' }
  const destination = { type: 'redirect', url: 'https://t.me/', channel }
  const campaign = await seedCampaign(fresh.database, org_id, { destination })
  const [shared] = await seedLinks(db, org_id, id, { campaign_id: campaign.id })
  const processes: Sluice[] = [await ground.start(0), await ground.start(1)]
  const given: string[] = []
  const visit = async (n: number): Promise<void> => {
    const { address } = processes[n % processes.length] ?? assert.fail()
    const answer = await fetch(`${address}/c/${campaign.key}`, { headers: BROWSER, redirect: 'manual' }).catch(
      () => undefined,
    )
    // Its process was killed.
    if (answer === undefined) return
    assert.equal(answer.status, 302)
    given.push(answer.headers.get('location') ?? '')
  }
  let done = 0
  const walk = async (n: number) => {
    for (let visits = n; visits < VISITS; visits += VISITORS) {
      await visit(visits)
      done += 1
    }
  }
  const walks = Promise.all(Array.from({ length: VISITORS }, (_, n) => walk(n)))
  for (let kill = 0; kill < KILLS; kill += 1) {
    const at = ((kill + 1) * VISITS) / (KILLS + 1)
    while (done < at) await sleep(5)
    await processes[kill % 2]?.kill()
    processes[kill % 2] = await ground.start(kill + 2)
  }
  await walks
  const own = given.filter(url => url !== shared?.url)
  assert.ok(own.length > VISITS / 4, `${own.length} of ${given.length} got their own link`)
  assert.equal(new Set(own).size, own.length)
  const { rows } = await fresh.database.reads.query<{ url: string }>(
    `select l.url from clicks c
     join channel_links l on l.org_id = c.org_id and l.id = c.link_id
     where c.org_id = $1`,
    [org_id],
  )
  const granted = rows.map(({ url }) => url)
  assert.equal(new Set(granted).size, granted.length)
  // Every sent link is stored, because it is written before it is sent.
  const known = new Set(granted)
  assert.deepEqual(
    own.filter(url => !known.has(url)),
    [],
  )
  await Promise.all(processes.map(process => process.stop()))
  const { rows: held } = await fresh.database.reads.query<{ batches: number; most: number }>(
    `select count(*)::int as batches, coalesce(max(count), 0)::int as most from (
       select leased_by, count(*) from link_batches where org_id = $1 and state = 'leased' group by leased_by
     ) held`,
    [org_id],
  )
  // Processes that ended orderly have returned theirs; each dead process holds one stock.
  assert.ok((held[0]?.batches ?? 0) <= KILLS, `${held[0]?.batches} processes hold links`)
})
