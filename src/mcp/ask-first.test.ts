// A key that asks first: its destructive tool calls need the confirmation that their own dry run handed out.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { seedKey, type TestHouse, useHouse } from '../../tests/support/house.ts'
import { seedClick } from '../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../tests/support/people.ts'
import { callTool } from '../../tests/support/tools.ts'
import { toUuid, toWireId } from '../contract/ids.ts'
import { ALL_RIGHTS } from '../contract/rights.ts'
import { confirmationFor } from '../gate/confirmation.ts'

let house: TestHouse
let owner: SignedIn
let key: string
let key_id: string
type Args = Record<string, unknown>

before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  const seeded = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  ;[key, key_id] = [seeded.secret, seeded.key_id]
  await setAskFirst(true)
})
after(() => house.end())

const setAskFirst = async (ask_first: boolean) => {
  const reply = await house.call('PATCH', `/api/api-keys/${toWireId(key_id)}`, { ...owner, body: { ask_first } })
  assert.equal(reply.data()['ask_first'], ask_first)
}
const tried = (name: string, args: Args, secret = key) => callTool(house, secret, `service_${name}`, args)
async function did(name: string, args: Args): Promise<Args & { id: string }> {
  const result = await tried(name, args)
  assert.equal(result.isError, undefined, `${name}: ${result.content[0]?.text}`)
  return result.structuredContent as Args & { id: string }
}
async function refused(name: string, args: Args, error: RegExp, secret = key) {
  const { isError, structuredContent } = await tried(name, args, secret)
  assert.deepEqual(
    [isError, structuredContent['code'], structuredContent['status']],
    [true, 'confirmation_needed', 409],
  )
  assert.match(String(structuredContent['error']), error)
  assert.match(String(structuredContent['hint']), /dry_run true/)
}
const confirmed = async (name: string, args: Args) =>
  String((await did(name, { ...args, dry_run: true }))['confirmation'])
const newOffer = async () => (await did('create_offer', { name: 'Slots', url: 'https://offer.example/' })).id
const isThere = async (id: string) => (await house.call('GET', `/api/offers/${id}`, owner)).statusCode === 200

test('a destructive call is refused without a confirmation, and runs once with that of its dry run', async () => {
  const offer_id = await newOffer()
  await refused('delete_offer', { offer_id }, /needs a confirmation/)
  const confirmation = await confirmed('delete_offer', { offer_id })
  assert.ok(await isThere(offer_id))
  await did('delete_offer', { confirmation, offer_id })
  assert.ok(!(await isThere(offer_id)))
  await refused('delete_offer', { offer_id, confirmation }, /was used before/)
})

test('a confirmation is good for its arguments, its tool and its key alone', async () => {
  const [offer_id, other_id] = [await newOffer(), await newOffer()]
  const args = { offer_id, name: 'New', url: 'https://new.example/' }
  const confirmation = await confirmed('update_offer', args)
  const wrong = /not for exactly these arguments/
  await refused('update_offer', { ...args, offer_id: other_id, confirmation }, wrong)
  await refused('update_offer', { ...args, payout: '3', confirmation }, wrong)
  await refused('delete_offer', { offer_id, confirmation }, wrong)
  for (const forged of ['x', 'é'.repeat(50), `${confirmation}x`, `0${confirmation}`, '.', `zzzzzzzz.${'A'.repeat(43)}`])
    await refused('update_offer', { ...args, confirmation: forged }, wrong)
  const second = await seedKey(house.database, owner, { rights: ALL_RIGHTS })
  await house.call('PATCH', `/api/api-keys/${toWireId(second.key_id)}`, { ...owner, body: { ask_first: true } })
  await refused('update_offer', { ...args, confirmation }, wrong, second.secret)
  // The order of the arguments does not matter.
  await did('update_offer', { url: args.url, confirmation, name: 'New', offer_id })
})

test('a confirmation ends after five minutes', async () => {
  const offer_id = await newOffer()
  const { secrets } = house.ground
  const text = JSON.stringify(['service_delete_offer', `/api/offers/${offer_id}`, null, null])
  const sign = (until_ms: number) => confirmationFor({ secrets, key_id, text }, until_ms)
  await refused('delete_offer', { offer_id, confirmation: sign(Date.now() - 1) }, /expired after five minutes/)
  const [until] = (await confirmed('delete_offer', { offer_id })).split('.')
  const left_ms = Number.parseInt(until ?? '', 36) - Date.now()
  assert.ok(left_ms > 290_000 && left_ms <= 300_000, String(left_ms))
  await did('delete_offer', { offer_id, confirmation: sign(Date.now() + 60_000) })
})

test('of two calls at once with one confirmation one runs', async () => {
  const offer_id = await newOffer()
  const args = { offer_id, name: 'Twice', url: 'https://new.example/' }
  const confirmation = await confirmed('update_offer', args)
  const results = await Promise.all([0, 1].map(() => tried('update_offer', { ...args, confirmation })))
  const codes = results.map(({ structuredContent }) => structuredContent['code'])
  assert.deepEqual(new Set(codes), new Set(['confirmation_needed', undefined]))
})

test('a call that is refused uses nothing up, and a dry run that is refused hands nothing out', async () => {
  const offer_id = await newOffer()
  const args = { offer_id, name: 'New', url: 'https://new.example/' }
  const confirmation = await confirmed('update_offer', args)
  await did('delete_offer', { offer_id, confirmation: await confirmed('delete_offer', { offer_id }) })
  const gone = await tried('update_offer', { ...args, confirmation })
  assert.equal(gone.structuredContent['status'], 404)
  const again = await tried('update_offer', { ...args, confirmation, dry_run: true })
  assert.deepEqual([again.isError, again.structuredContent['confirmation']], [true, undefined])
  const repeated = await tried('update_offer', { ...args, confirmation })
  assert.equal(repeated.structuredContent['status'], 404)
})

test('a conversion asks too; its refusal is not listed among the refused conversions', async () => {
  const clickId = toWireId(await seedClick(house.database, owner.org_id))
  const args = { clickId, type: 'lead', nonce: '1' }
  await refused('report_conversion', args, /needs a confirmation/)
  const confirmation = await confirmed('report_conversion', args)
  await did('report_conversion', { ...args, confirmation })
  await refused('report_conversion', { ...args, confirmation }, /was used before/)
  const listed = (await house.call('GET', '/api/refused-events', owner)).data()['data'] as unknown[]
  assert.equal(listed.length, 0)
})

test('other tools, other keys and plain HTTP calls of the key do not ask', async () => {
  const offer_id = await newOffer()
  await did('set_offer_status', { offer_id, status: 'archived' })
  const body = { name: 'By HTTP', url: 'https://new.example/' }
  assert.equal((await house.call('PUT', `/api/offers/${offer_id}`, { key, body })).statusCode, 200)
  const plain = (await seedKey(house.database, owner, { rights: ALL_RIGHTS })).secret
  const dry = await tried('delete_offer', { offer_id, dry_run: true }, plain)
  assert.equal(dry.structuredContent['confirmation'], undefined)
  assert.equal((await tried('delete_offer', { offer_id }, plain)).isError, undefined)
})

test('only the owner of a key makes it ask first; the history keeps it and puts it back', async () => {
  const admin = await seedSignedIn(house, { place: owner, role: 'admin' })
  const path = `/api/api-keys/${toWireId(key_id)}`
  const other = await house.call('PATCH', path, { ...admin, body: { ask_first: false } })
  assert.ok([403, 404].includes(other.statusCode))
  const list = await house.call('GET', `/api/history?kind=api_key&id=${toWireId(key_id)}`, owner)
  const [row] = list.data()['data'] as { id: string; fields: unknown[] }[]
  assert.deepEqual(row?.fields, [{ name: 'ask_first', before: false, after: true }])
  assert.equal((await house.call('POST', `/api/history/${row?.id}/undo`, { ...owner, body: {} })).statusCode, 200)
  const keys = (await house.call('GET', '/api/api-keys', owner)).data()['data'] as Args[]
  assert.equal(keys.find(one => toUuid(String(one['id'])) === key_id)?.['ask_first'], false)
})
