import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Access, rightOf } from '../src/contract/endpoint.ts'
import { ALL_RIGHTS, RIGHTS, rightsOf } from '../src/contract/rights.ts'
import { startHouse, type TestHouse } from './support/house.ts'

const GOLDEN = join(import.meta.dirname, 'routes.golden.txt')
let house: TestHouse

before(async () => {
  house = await startHouse()
})
after(() => house.end())

function inWords(access: Access): string {
  if (access === 'anyone') return 'anyone'
  const right = access.session === undefined ? access.key : rightOf(access)
  return [access.session && `session:${access.session}`, right && `key:${right}`].filter(Boolean).join('  ')
}

test('the public surface changes only where a reviewer sees routes.golden.txt change', () => {
  const lines = house.furnished.map(({ endpoint }) => {
    const { quota, once, visit, hosts } = endpoint
    const marks = [quota && `quota:${quota}`, once && 'once', visit && 'visit', hosts && `${hosts}-host`]
    return [endpoint.route.padEnd(44), inWords(endpoint.access), ...marks].filter(Boolean).join('  ').trimEnd()
  })
  const surface = `${lines.toSorted((a, b) => (a.slice(a.indexOf('/')) < b.slice(b.indexOf('/')) ? -1 : 1)).join('\n')}\n`
  if (process.env['UPDATE_GOLDEN']) writeFileSync(GOLDEN, surface)
  assert.equal(surface, readFileSync(GOLDEN, 'utf8'), 'run with UPDATE_GOLDEN=1 when the change is meant')
})

test('there are 26 rights: 2 to read, 9 to write, 15 final; 15 take a campaign list', () => {
  assert.equal(ALL_RIGHTS.length, 26)
  assert.deepEqual([rightsOf('read').length, rightsOf('write').length, rightsOf('delete').length], [2, 9, 15])
  const narrowed = ALL_RIGHTS.filter(slug => RIGHTS[slug].reach === 'campaigns')
  assert.equal(narrowed.length, 15)
})

test('a route without a declaration keeps the server from starting', () => {
  assert.throws(() => house.app.get('/undeclared', () => 'hello'), /already listening|no endpoint/)
})

test('the document of the API names every route and can be read without a network', async () => {
  const document = (await house.call('GET', '/api/openapi.json')).data() as { paths: Record<string, object> }
  const declared = house.furnished.flatMap(({ endpoint }) => Object.values(endpoint.parts ?? { endpoint }))
  for (const endpoint of declared) {
    const [method = '', path = ''] = endpoint.route.split(' ')
    const place = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]
    assert.ok(place !== undefined && method.toLowerCase() in place, endpoint.route)
  }
  assert.ok(!JSON.stringify(document).includes('#/$defs/'))
  const page = await house.call('GET', '/api/docs')
  assert.equal(page.statusCode, 200)
  assert.match(String(page.headers['content-security-policy']), /default-src 'none'/)
  assert.doesNotMatch(page.body, /https?:\/\//)
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'start.js'])
    assert.equal((await house.call('GET', `/api/docs/${file}`)).statusCode, 200, file)
})
