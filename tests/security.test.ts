// Checks docs/security.md: its table leads to existing pages and tests. Promises across all rooms are tested here.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { listTables } from '../src/backup/tables.ts'
import { ORIGIN, startHouse, useHouse } from './support/house.ts'
import { codeOf } from './support/totp.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

describe('the table of promises', () => {
  /** Pages about permissions and stored data. A section with one of these words has a row, or is listed below. */
  const PAGES = [
    'accounts',
    'api-keys',
    'api',
    'billing',
    'domains',
    'mcp',
    'networks',
    'operating',
    'postbacks',
    'team',
  ]
  const WORDS = /\b(never|nobody|no one|cannot)\b/i
  const NO_PROMISE_OF_SECURITY = ['api.md#answers']

  const rows = read('docs/security.md')
    .split('\n')
    .filter(line => /^\|.*\.(test|spec)\.ts\)/.test(line))
    .map(line => line.split('|').slice(1, -1))

  /** The address GitHub gives to a heading. */
  const anchorOf = (heading: string) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
  /** Each section of a page by its anchor, without its examples. */
  const sectionsOf = (page: string) => {
    const [, ...parts] = read(page)
      .replaceAll(/^```[^]*?^```/gm, '')
      .split(/^#+ (.+)$/m)
    const at = (nth: number) => parts[nth] ?? ''
    return new Map(parts.flatMap((_, nth) => (nth % 2 === 0 ? [[anchorOf(at(nth)), at(nth + 1)] as const] : [])))
  }
  const namesOf = (cell = '') => [...cell.matchAll(/\]\(([^)]+)\): `([^`]+)`/g)]
  const linksOf = (cell = '') => [...cell.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link)

  test('has in each row a promise, the section that makes it and the tests that keep it', () => {
    assert.ok(rows.length > 50, `${rows.length} rows were read`)
    for (const [promise = '', sections, tests] of rows) {
      assert.ok(promise.trim() !== '' && linksOf(sections).length > 0, promise)
      assert.equal(linksOf(tests).length, namesOf(tests).length, `each test has its file and its name: ${promise}`)
      for (const link of linksOf(sections)) {
        const [name = '', anchor = ''] = link.split('#')
        const page = join('docs', name === '' ? 'security.md' : name)
        assert.ok(existsSync(join(ROOT, page)) && sectionsOf(page).has(anchor), link)
      }
    }
  })

  test('names tests as they are named in their files', () => {
    for (const [, , cell] of rows)
      for (const [, link = '', name = ''] of namesOf(cell)) {
        const path = join('docs', link)
        assert.ok(existsSync(join(ROOT, path)), path)
        const names = [...read(path).matchAll(/\b(?:describe|test)\(\s*(['"`])(.*?)\1,/g)].map(([, , found]) => found)
        for (const part of name.split(' › ')) assert.ok(names.includes(part), `${path} has no test called: ${part}`)
      }
  })

  test('has a row for every section of these pages that says never, nobody or cannot', () => {
    const linked = new Set(rows.flatMap(([, page]) => linksOf(page)))
    const found = PAGES.flatMap(name =>
      [...sectionsOf(`docs/${name}.md`)]
        .filter(([, text]) => WORDS.test(text))
        .map(([anchor]) => `${name}.md#${anchor}`),
    )
    const missing = found.filter(section => !linked.has(section) && !NO_PROMISE_OF_SECURITY.includes(section))
    assert.deepEqual(missing, [])
    const idle = NO_PROMISE_OF_SECURITY.filter(section => linked.has(section) || !found.includes(section))
    assert.deepEqual(idle, [], 'these need not be listed here')
  })
})

test('all rows of the database together contain nothing to sign in, call or connect with', async t => {
  const SECRET = 'the secret of this installation'
  const house = await startHouse({ SIGN_UP: 'open', SECRET })
  t.after(() => house.end())
  const PASSWORD = 'a password that nobody has typed'
  const AD_TOKEN = 'EAABsbCS1iHgBAtokenOfAnAdAccount'
  let cookie = ''
  const post = async (path: string, body: object) => {
    const reply = await house.call('POST', `/api${path}`, { body, headers: { origin: ORIGIN, cookie } })
    assert.ok([200, 201].includes(reply.statusCode), `${path}: ${reply.body}`)
    const set = [reply.headers['set-cookie'] ?? []].flat().find(line => line.startsWith('sluice.session_token='))
    cookie = set?.split(';', 1)[0] ?? cookie
    return reply.data()
  }
  await post('/auth/sign-up/email', { name: 'Ann', email: 'ann@example.com', password: PASSWORD })
  await post('/organizations', { name: 'Acme' })
  const key = String((await post('/api-keys', { name: 'CRM' }))['secret'])
  const network = String((await post('/networks', { name: 'Net', template: 'plain' }))['postback_url'])
  const { link } = await post('/invitations', { email: 'bea@example.com', role: 'admin' })
  await post('/ad-accounts', {
    platform: 'meta',
    name: 'Pixel',
    settings: { pixel_id: '1234567890' },
    credentials: { access_token: AD_TOKEN },
  })
  const { totpURI, recoveryCodes } = await post('/auth/two-factor/enable', { password: PASSWORD })
  await post('/auth/two-factor/verify-totp', { code: codeOf(String(totpURI)) })

  const secrets = {
    SECRET,
    'the password': PASSWORD,
    'the session': decodeURIComponent(cookie.split('=', 2)[1] ?? ''),
    'the API key': key,
    'the address of the network': new URL(network).pathname.split('/')[2] ?? '',
    'the link of an invitation': String(link).split('/').at(-1) ?? '',
    'the token of the ad account': AD_TOKEN,
    'the secret of the app': new URL(String(totpURI)).searchParams.get('secret') ?? '',
    'a recovery code': (recoveryCodes as string[])[0] ?? '',
  }
  const client = await house.database.reads.connect()
  let all = ''
  for (const { name } of await listTables(client)) {
    const { rows } = await client.query<{ text: string }>(
      `select t::text as text from ${client.escapeIdentifier(name)} t`,
    )
    all += rows.map(({ text }) => text).join('\n')
  }
  client.release()
  assert.ok(all.includes('ann@example.com'), 'the rows were read')
  for (const [what, secret] of Object.entries(secrets)) {
    assert.ok(secret.length >= 10, what)
    for (const form of ['utf8', 'hex', 'base64'] as const)
      assert.ok(!all.includes(Buffer.from(secret).toString(form)), `${what} is stored as ${form}`)
  }
})

test('pages of the dashboard run only their own scripts, and no other site can show them in a frame', async t => {
  const house = await useHouse()
  t.after(() => house.end())
  for (const path of ['/', '/sign-in', '/api/docs']) {
    const policy = String((await house.call('GET', path)).headers['content-security-policy'])
    for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
      assert.ok(policy.split(';').includes(part), `${path} lacks ${part}: ${policy}`)
  }
})
