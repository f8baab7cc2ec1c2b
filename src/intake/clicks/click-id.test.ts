import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import fc from 'fast-check'
import { firstIdAt, timeOfId, toUuid, toWireId } from '../../contract/ids.ts'
import { mintClickId, organizationOfClick } from './click-id.ts'

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const organization = fc.integer({ min: 1, max: 0x7fff_ffff })
const millisecond = fc.integer({ min: 0, max: 2 ** 48 - 1 })

test('an id gives back the organization and the millisecond it was made for, also after a trip over the wire', () => {
  const key = randomBytes(16)
  fc.assert(
    fc.property(organization, millisecond, (org_id, ms) => {
      const id = mintClickId(key, org_id, ms)
      assert.match(id, UUID_V7)
      assert.equal(timeOfId(id), ms)
      assert.ok(id >= firstIdAt(ms))
      assert.equal(organizationOfClick(key, id), org_id)
      assert.equal(toUuid(toWireId(id).toUpperCase()), id)
    }),
    { numRuns: 2000 },
  )
})

test('under another key an id does not name its organization, and ids of one organization share no ending', () => {
  const [key, other] = [randomBytes(16), randomBytes(16)]
  const ids = Array.from({ length: 2000 }, () => mintClickId(key, 7, 1_700_000_000_000))
  assert.equal(new Set(ids).size, ids.length)
  assert.equal(ids.filter(id => organizationOfClick(other, id) === 7).length, 0)
  assert.ok(new Set(ids.map(id => id.slice(-8))).size > ids.length - 5)
})

test('what was never a click id of ours is no number a database could choke on', () => {
  const key = randomBytes(16)
  fc.assert(
    fc.property(fc.uuid(), uuid => {
      const org_id = organizationOfClick(key, uuid)
      assert.ok(org_id === undefined || (Number.isInteger(org_id) && org_id > 0 && org_id <= 0x7fff_ffff))
    }),
  )
  assert.equal(organizationOfClick(key, '00000000-0000-0000-0000-000000000000'), undefined)
})
