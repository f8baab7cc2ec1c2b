// The tool endpoint with software of others: the official clients of both SDKs, the conformance suite of the
// protocol, the Inspector. All on loopback, without the network.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ALL_RIGHTS } from '../src/contract/rights.ts'
import { TOOLS } from '../src/mcp/tools/all.ts'
import { seedKey, seedOrganization, useHouse, type TestHouse } from './support/house.ts'
import { type KeyProxy, startKeyProxy } from './support/key-proxy.ts'
import { seedSignedIn } from './support/people.ts'

/** Long, because the machine may be busy with other tests. */
const PATIENCE_MS = 240_000
const INFO = { name: 'test', version: '1' }
const OFFER = { name: 'Slots', url: 'https://offer.example/?c={click_id}' }

const folder = mkdtempSync(join(tmpdir(), 'sluice-hosts-'))
let house: TestHouse
let url: string
let full: string
let fresh: string
let proxy: KeyProxy

before(async () => {
  house = await useHouse()
  const acme = await seedOrganization(house.database)
  full = (await seedKey(house.database, acme, { rights: ALL_RIGHTS })).secret
  fresh = (await seedKey(house.database, acme)).secret
  const address = await house.listen()
  url = `${address}/api/mcp`
  proxy = await startKeyProxy(address, full)
})
after(async () => {
  await proxy.close()
  await house.end()
  rmSync(folder, { recursive: true, force: true })
})

/** The common interface of both clients. */
type Plain = {
  listTools(): Promise<{ tools: { name: string }[] }>
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>
  close(): Promise<void>
}
type Result = { isError?: boolean; content: { text: string }[]; structuredContent: Record<string, unknown> }

const headers = (key: string) => ({ requestInit: { headers: { 'x-api-key': key } } })

async function firstClient(key: string): Promise<Plain> {
  const client = new FirstClient(INFO)
  await client.connect(new FirstTransport(new URL(url), headers(key)) as Parameters<typeof client.connect>[0])
  return client as Plain
}

const secondClient =
  (mode: VersionNegotiationMode) =>
  async (key: string): Promise<Plain> => {
    const client = new Client(INFO, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(new URL(url), headers(key)))
    return client as unknown as Plain
  }

const CLIENTS: Record<string, (key: string) => Promise<Plain>> = {
  'SDK 1.x': firstClient,
  'SDK 2.x by handshake': secondClient('legacy'),
  'SDK 2.x finding out': secondClient('auto'),
  'SDK 2.x pinned to 2026-07-28': secondClient({ pin: '2026-07-28' }),
}

describe('the official clients', () => {
  for (const [name, connect] of Object.entries(CLIENTS))
    test(`${name} lists, calls, is refused and continues`, { timeout: PATIENCE_MS }, async () => {
      const client = await connect(full)
      const { tools } = await client.listTools()
      assert.equal(tools.length, TOOLS.length)
      const call = async (name: string, args: Record<string, unknown>) =>
        (await client.callTool({ name, arguments: args })) as Result
      const made = await call('service_create_offer', OFFER)
      assert.equal(made.isError ?? false, false)
      assert.deepEqual(JSON.parse(made.content[0]?.text ?? ''), made.structuredContent)
      const refused = await call('service_create_offer', { ...OFFER, payout: '-1' })
      assert.equal(refused.isError, true)
      assert.equal(refused.structuredContent['status'], 400)
      const deleted = await call('service_delete_offer', { offer_id: made.structuredContent['id'] })
      assert.deepEqual(deleted.structuredContent, {
        ok: true,
        id: made.structuredContent['id'],
        campaigns_on_fallback: [],
      })
      await client.close()

      const poor = await connect(fresh)
      const forbidden = (await poor.callTool({ name: 'service_report_conversion', arguments: {} })) as Result
      assert.equal(forbidden.structuredContent['code'], 'api_key_write_not_granted')
      await poor.close()
      await assert.rejects(connect('sluice_unknown'))
    })
})

test('a host that can ask its person asks with the numbers of the dry run, and only a yes runs the call', async () => {
  const place = await seedOrganization(house.database)
  const { secret, key_id } = await seedKey(house.database, place, { rights: ALL_RIGHTS })
  await house.database.kysely.updateTable('api_keys').set({ ask_first: true }).where('id', '=', key_id).execute()
  for (const mode of [{ pin: '2026-07-28' }, 'legacy'] as const) {
    const client = new Client(INFO, { versionNegotiation: { mode }, capabilities: { elicitation: {} } })
    const questions: string[] = []
    let action: 'accept' | 'decline' = 'decline'
    client.setRequestHandler('elicitation/create', ({ params }) => {
      questions.push(params.message)
      return action === 'accept' ? { action, content: {} } : { action }
    })
    await client.connect(new StreamableHTTPClientTransport(new URL(url), headers(secret)))
    const call = async (name: string, args: Record<string, unknown>) =>
      (await client.callTool({ name: `service_${name}`, arguments: args })) as unknown as Result
    const { structuredContent } = await call('create_offer', { ...OFFER, payout: '7' })
    const args = { offer_id: structuredContent['id'], name: 'Slots', url: 'https://new.example/' }
    const first = await call('update_offer', args)
    assert.deepEqual([first.isError, first.structuredContent['code']], [true, 'confirmation_needed'])
    if (mode === 'legacy') {
      // Without a session the older revisions carry no question.
      assert.deepEqual(questions, [])
      await client.close()
      continue
    }
    assert.match(String(first.structuredContent['error']), /did not agree/)
    action = 'accept'
    const second = await call('update_offer', args)
    assert.equal(second.isError ?? false, false)
    assert.equal(second.structuredContent['url'], 'https://new.example/')
    assert.equal(questions.length, 2)
    assert.match(
      questions[1] ?? '',
      /^Replace an offer\? “Slots” is changed: url https:\/\/offer\.example\/.* → https:\/\/new\.example\/, payout 7 → nothing\. At most 0 visitors/,
    )
    const refused = await call('delete_offer', { offer_id: 'unknown' })
    assert.equal(refused.structuredContent['status'], 404)
    assert.equal(questions.length, 2, 'nobody is asked about a call that would be refused')
    await client.close()
  }
})

/** `--name value` for each. */
const flags = (values: Record<string, string>): string[] =>
  Object.entries(values).flatMap(([name, value]) => [`--${name}`, value])

type Ended = { code: number; output: string }

/** Starts a package's program with this Node, with its own home folder and without a proxy. */
function start(packageName: string, program: string, args: readonly string[]) {
  const place = dirname(createRequire(import.meta.url).resolve(`${packageName}/package.json`))
  const env = { PATH: process.env['PATH'], HOME: folder, NO_COLOR: '1' }
  const { promise: ended, resolve } = Promise.withResolvers<Ended>()
  const { stdout } = execFile(
    process.execPath,
    [join(place, program), ...args],
    { env, cwd: folder, timeout: PATIENCE_MS, maxBuffer: 2 ** 24 },
    (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), output: out + err }),
  )
  /** The first part of its output that matches. Throws if it ends before. */
  const until = (pattern: RegExp): Promise<string> => {
    const { promise, resolve: found, reject } = Promise.withResolvers<string>()
    let said = ''
    stdout?.on('data', (part: unknown) => {
      said += String(part)
      const [match] = pattern.exec(said) ?? []
      if (match !== undefined) found(match)
    })
    void ended.then(({ output }) => reject(new Error(`it ended: ${output}`)))
    return promise
  }
  return { ended, until }
}

const runProgram = (packageName: string, program: string, args: readonly string[]): Promise<Ended> =>
  start(packageName, program, args).ended

describe('the conformance suite of the protocol', () => {
  for (const version of ['2025-11-25', '2026-07-28'])
    test(`passes under ${version}, except where the baseline gives a reason`, async () => {
      const baseline = join(import.meta.dirname, `hosts/baseline-${version}.yml`)
      const found = join(folder, version)
      const { code, output } = await judge({
        requirements: version,
        'expected-failures': baseline,
        'output-dir': found,
      })
      assert.equal(code, 0, output)
      assert.match(output, /Baseline check passed/)
      assertChecks(version, found)
    })

  for (const [version, mark] of [
    ['2025-11-25', ' @detail'],
    ['2026-07-28', ''],
  ] as const)
    test(`accepts the skills under ${version}${mark}`, { timeout: PATIENCE_MS }, async () => {
      const found = join(folder, `skills-${version}`)
      for (const part of ['enumeration', 'manifest', 'directory'])
        await judge({ 'spec-version': version, scenario: `sep-2640-skills-${part}`, 'output-dir': found }, '--force')
      assertChecks(`skills-${version}`, found)
    })
})

test('the authorization scenarios of the suite pass, with the consent of a person', {
  timeout: PATIENCE_MS,
}, async () => {
  const { host, origin } = new URL(url)
  const owner = await seedSignedIn(house)
  const port = await freePort()
  const redirect_uri = `http://127.0.0.1:${port}/callback`
  const registered = await fetch(`${origin}/oauth/register`, {
    method: 'POST',
    body: JSON.stringify({ client_name: 'Conformance', redirect_uris: [redirect_uri] }),
  })
  const { client_id } = (await registered.json()) as { client_id: string }
  const found = join(folder, 'authorization')
  const asked = {
    url: origin,
    'client-id': client_id,
    resource: `${origin}/mcp`,
    port: String(port),
    'output-dir': found,
  }
  const suite = start('@modelcontextprotocol/conformance', 'dist/index.js', ['authorization', ...flags(asked)])
  const said = await suite.until(/^http\S+\/oauth\/authorize\?\S+$/m)
  const request = Object.fromEntries(new URL(said).searchParams)
  const grant = { organization_id: owner.organization_id, read: ['clicks'], write: [], delete: [] }
  const headers = { host, origin, cookie: owner.cookie ?? '' }
  const consent = await house.call('POST', '/api/connections', { body: { request, grant }, headers })
  assert.equal(consent.statusCode, 201, consent.body)
  await fetch(String(consent.data()['redirect']))
  const { code, output } = await suite.ended
  assert.equal(code, 0, output)
  assertChecks('authorization', found)
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Runs the suite against the tool endpoint. */
const judge = (asked: Record<string, string>, ...more: string[]): Promise<Ended> =>
  runProgram('@modelcontextprotocol/conformance', 'dist/index.js', [
    'server',
    ...flags({ url: `${proxy.address}/api/mcp`, ...asked }),
    ...more,
  ])

/**
 * Compares every check of the suite with the golden file, so that a scenario that is expected to fail does not hide
 * a further failing check.
 */
function assertChecks(name: string, folderOfRun: string): void {
  const golden = join(import.meta.dirname, `hosts/checks-${name}.golden.txt`)
  const lines = readdirSync(folderOfRun).map(run => {
    const scenario = run.replace(/^(?:authorization-)?server-(.*)-\d{4}-\d\d-\d\dT.*$/, '$1')
    const checks = JSON.parse(readFileSync(join(folderOfRun, run, 'checks.json'), 'utf8')) as Check[]
    const wrong = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    const passed = checks.filter(({ status }) => status === 'SUCCESS').length
    return [`${scenario}: ${passed} passed`, ...wrong.map(({ status, id }) => `${status.toLowerCase()} ${id}`)].join(
      '\n  ',
    )
  })
  const said = `${lines.sort().join('\n')}\n`
  if (process.env['UPDATE_GOLDEN']) writeFileSync(golden, said)
  assert.equal(said, readFileSync(golden, 'utf8'), 'run with UPDATE_GOLDEN=1 when the change is meant')
}

type Check = { readonly id: string; readonly status: string }

describe('the Inspector', () => {
  const inspect = (key: string, method: string, ...more: string[]) => {
    const known = flags({ transport: 'http', header: `x-api-key: ${key}`, method })
    const program = 'clients/launcher/build/index.js'
    return runProgram('@modelcontextprotocol/inspector', program, ['--cli', url, ...known, ...more])
  }
  const call = (era: string, name: string, args: object) => {
    const named = { 'tool-name': name, 'tool-args-json': JSON.stringify(args) }
    return inspect(full, 'tools/call', ...flags({ ...named, 'protocol-era': era, format: 'json' }))
  }

  test('lists all tools and accepts their schemas', async () => {
    const listed = await inspect(full, 'tools/list', '--format', 'json')
    assert.equal(listed.code, 0, listed.output)
    assert.equal((JSON.parse(listed.output) as { result: { tools: unknown[] } }).result.tools.length, TOOLS.length)
    const strict = await inspect(full, 'tools/list', '--strict', '-q')
    assert.equal(strict.code, 0, strict.output)
    assert.doesNotMatch(strict.output, /warning/i)
  })

  test('calls tools in both versions, and distinguishes a tool’s refusal from a refused key', async () => {
    for (const era of ['auto', 'modern']) {
      const made = await call(era, 'service_create_offer', OFFER)
      assert.equal(made.code, 0, made.output)
      assert.match(made.output, /"status":\s*"active"/)
    }
    const refused = await call('auto', 'service_create_offer', {})
    assert.equal(refused.code, 5, refused.output)
    assert.match(refused.output, /tool_is_error/)
    const unknown = await inspect('sluice_unknown', 'tools/list')
    assert.equal(unknown.code, 3, unknown.output)
  })
})
