import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { useHouse, type TestHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { seedKey } from '../../../tests/support/house.ts'

let house: TestHouse
let ann: SignedIn
before(async () => {
  house = await useHouse()
  ann = await seedSignedIn(house)
})
after(() => house.end())

/** Whole images of one pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const JPEG = `/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP${'/'.repeat(86)}wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=`
const WEBP = 'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA'
const WEBP_LOSSLESS = 'UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=='

const set = (image: unknown, { cookie } = ann) => house.call('PUT', '/api/avatar', { cookie, body: { image } })
const imageOf = async ({ cookie }: SignedIn) =>
  (await house.call('GET', '/api/auth/get-session', { cookie })).json<{ user: { image: string | null } }>().user.image
const stored = () => house.database.kysely.selectFrom('avatars').select(['user_id', 'type']).execute()

/** A PNG that says it is as large as this; browsers believe it, and would make room for all of it. */
function pngOf(width: number, height: number): string {
  const bytes = Buffer.from(PNG, 'base64')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes.toString('base64')
}

test('a picture is served as what it is and as nothing else, under a path that is new with every picture', async () => {
  const paths = new Set<string>()
  for (const [image, type] of [
    [PNG, 'image/png'],
    [JPEG, 'image/jpeg'],
    [WEBP, 'image/webp'],
    [WEBP_LOSSLESS, 'image/webp'],
  ] as const) {
    const reply = await set(image)
    assert.equal(reply.statusCode, 200, reply.body)
    const path = String(reply.data()['image'])
    assert.equal(await imageOf(ann), path)
    const sent = await house.call('GET', path, { cookie: ann.cookie })
    assert.equal(sent.statusCode, 200)
    assert.equal(sent.rawPayload.toString('base64'), image)
    assert.equal(sent.headers['content-type'], type)
    assert.equal(sent.headers['x-content-type-options'], 'nosniff')
    assert.match(String(sent.headers['content-security-policy']), /default-src 'none'; sandbox/)
    assert.match(String(sent.headers['cache-control']), /^private, .*immutable$/)
    for (const before of paths) assert.equal((await house.call('GET', before, { cookie: ann.cookie })).statusCode, 404)
    paths.add(path)
  }
  assert.equal(paths.size, 4)
  assert.deepEqual(await stored(), [{ user_id: ann.user_id, type: 'image/webp' }])
})

test('what is no image by its own bytes, too heavy or too large is refused, and the picture before stays', async () => {
  await set(PNG)
  const before = await imageOf(ann)
  const page = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>').toString('base64')
  const heavy = Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.alloc(256 * 1024)]).toString('base64')
  for (const [image, words] of [
    [page, /PNG, JPEG or WebP/],
    [Buffer.from('<!doctype html>').toString('base64'), /PNG, JPEG or WebP/],
    [PNG.slice(0, 24), /PNG, JPEG or WebP/],
    [JPEG.slice(0, 40), /PNG, JPEG or WebP/],
    [WEBP.slice(0, 24), /PNG, JPEG or WebP/],
    [Buffer.from('GIF89a').toString('base64'), /PNG, JPEG or WebP/],
    [pngOf(1025, 1), /1024 pixels/],
    [pngOf(0, 1), /1024 pixels/],
    [heavy, /image/],
    ['data:image/png;base64,AAAA', /image/],
    ['', /image/],
    [undefined, /image/],
  ] as const) {
    const reply = await set(image)
    assert.equal(reply.statusCode, 400, `${image}`)
    assert.match(String(reply.data()['error']), words)
  }
  assert.equal((await set(pngOf(1024, 1024))).statusCode, 200)
  await set(PNG)
  assert.notEqual(await imageOf(ann), before)
})

test('a removed picture is gone, of this person alone', async () => {
  const bea = await seedSignedIn(house)
  await set(PNG)
  await set(JPEG, bea)
  const path = String(await imageOf(ann))
  assert.equal((await house.call('DELETE', '/api/avatar', { cookie: ann.cookie })).statusCode, 200)
  assert.equal((await house.call('DELETE', '/api/avatar', { cookie: ann.cookie })).statusCode, 200)
  assert.equal(await imageOf(ann), null)
  assert.equal((await house.call('GET', path, { cookie: ann.cookie })).statusCode, 404)
  assert.deepEqual(await stored(), [{ user_id: bea.user_id, type: 'image/jpeg' }])
})

test('two pictures set at once leave one, and the path that the session says is the one of it', async () => {
  await Promise.all([set(PNG), set(JPEG), set(WEBP)])
  const path = String(await imageOf(ann))
  assert.equal((await house.call('GET', path, { cookie: ann.cookie })).statusCode, 200)
})

test('pictures are shown to whoever is signed in, the team finds them in its list, and no key reaches them', async () => {
  await set(PNG)
  const path = String(await imageOf(ann))
  const mate = await seedSignedIn(house, { place: ann, role: 'member' })
  const { data } = (await house.call('GET', '/api/members', { cookie: mate.cookie })).json<{
    data: { image: string | null }[]
  }>()
  assert.deepEqual(
    data.map(({ image }) => image),
    [path, null],
  )
  assert.equal((await house.call('GET', path, { cookie: mate.cookie })).statusCode, 200)
  assert.equal((await house.call('GET', path)).statusCode, 401)
  assert.equal((await house.call('GET', '/api/avatars/nothing', { cookie: mate.cookie })).statusCode, 404)
  const { secret: key } = await seedKey(house.database, ann, { rights: ['clicks'] })
  for (const [method, url] of [
    ['GET', path],
    ['PUT', '/api/avatar'],
    ['DELETE', '/api/avatar'],
  ] as const)
    assert.equal((await house.call(method, url, { key })).data()['code'], 'api_key_resource_forbidden')
  const foreign = { cookie: ann.cookie, headers: { origin: 'https://evil.example' } }
  assert.equal((await house.call('DELETE', '/api/avatar', foreign)).statusCode, 403)
  assert.equal(await imageOf(ann), path)
})
