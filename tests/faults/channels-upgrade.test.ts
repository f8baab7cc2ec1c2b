// Beside the previous version without channels: its visitors use the campaign's shared link.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { connect, type Database } from '../../src/ground/db/connect.ts'
import { nameSharedLink } from '../../src/traffic/campaigns/shared-link.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { type FaultGround, faultGround, IS_LONG } from '../support/fault-ground.ts'
import { seedOrganization } from '../support/house.ts'
import { seedChannel, seedLinks } from '../support/invite-links.ts'
import type { Sluice } from '../support/sluice.ts'
import { checkOut, commitBefore } from '../support/version-before.ts'
import { BROWSER, seedCampaign } from '../support/visits.ts'

const commit = commitBefore('0083_channels.sql')
const whyNot = commit === undefined ? 'it needs the history of the repository' : false
const skip = IS_LONG ? whyNot : 'it starts an old version: see npm run test:faults'

let fresh: FreshDatabase
let database: Database
let ground: FaultGround
let before_: ReturnType<typeof checkOut>
before(async () => {
  if (skip !== false) return
  before_ = checkOut(commit ?? '')
  fresh = await freshDatabase()
  const name = `${fresh.connection.database}_before`
  await fresh.database.worker.query(`create database ${name}`)
  database = connect([{ ...fresh.connection, database: name }], { log: pino({ level: 'silent' }) })
  // The previous version creates its own database.
  ground = await faultGround(database, fresh.url.replace(String(fresh.connection.database), name), 0)
})
after(async () => {
  if (skip !== false) return
  await ground.end()
  await database.close()
  await fresh.database.worker.query(`drop database ${fresh.connection.database}_before with (force)`)
  await fresh.drop()
  before_.end()
})

test('the previous version sends visitors to a channel by the shared link, beside this one that gives each their own', {
  skip,
}, async () => {
  const old = await ground.start(0, {}, { main: before_.main })
  const next = await ground.start(1)
  const db = database.kysely
  const { org_id } = await seedOrganization(database)
  const { id: channel_id } = await seedChannel(db, org_id)
  await seedLinks(db, org_id, channel_id, { count: 20 })
  const channel = { type: 'channel', channel_id, open: 'direct', link_host: 't.me' }
  const destination = { type: 'redirect', url: 'https://t.me/', channel }
  const campaign = await seedCampaign(database, org_id, { destination })
  const [shared] = await seedLinks(db, org_id, channel_id, { campaign_id: campaign.id })
  await nameSharedLink(db, { org_id, campaign_id: campaign.id, channel_id, url: shared?.url ?? '' })
  const visit = async ({ address }: Sluice) => {
    const answer = await fetch(`${address}/c/${campaign.key}`, { headers: BROWSER, redirect: 'manual' })
    return answer.headers.get('location')
  }
  await eventually('the previous version redirects there', async () => (await visit(old)) === shared?.url)
  const own: (string | null)[] = []
  // A visitor who waits too long for their own link gets the shared one.
  await eventually('three have their own links', async () => {
    const url = await visit(next)
    if (url !== shared?.url) own.push(url)
    return own.length === 3
  })
  assert.equal(new Set(own).size, 3)
})
