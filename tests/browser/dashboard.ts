// A Sluice of its own for the tests of a worker: the real process on a fresh database, with its owner signed in. A test fails
// when the page breaks the content security policy or throws, whatever else it looks at.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type APIRequestContext,
  type BrowserContext,
  expect,
  type Page,
  test as plain,
  request,
} from '@playwright/test'
import { freshDatabase } from '../support/database.ts'
import { patient } from '../support/explore-processes.ts'
import { startSluice } from '../support/sluice.ts'

/** Of tests that look at how something is shown which another test does: they run where they are named, and with all. */
export const DETAIL = { tag: '@detail' }

export const OWNER = {
  name: 'Mara Lindqvist',
  email: 'mara@example.com',
  password: 'correct horse battery',
  organization: 'Northwind',
}

type State = Awaited<ReturnType<BrowserContext['storageState']>>
/** `database` is for what no screen can make, such as clicks of yesterday. */
export type Installation = { address: string; database: string; end(): Promise<void> }

/** Starts Sluice on a fresh database, without an owner, with the settings of `env`. */
export async function startInstallation(env: Record<string, string> = {}): Promise<Installation> {
  const fresh = await freshDatabase()
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-browser-'))
  const own = { DATABASE_URL: fresh.url, DATA_DIR: dataDir, LOG_LEVEL: 'error' }
  const sluice = await startSluice({ ...own, ...patient, ...env })
  return {
    address: sluice.address,
    database: fresh.url,
    async end() {
      await sluice.stop()
      await fresh.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** `settings` are those of the worker's Sluice; a spec that needs some has a worker of its own. */
type PerWorker = { settings: Record<string, string>; sluice: Installation & { signedIn: State } }
type PerTest = {
  /** The owner's session outside of the browser, for what a test needs to be there. */
  owner: APIRequestContext
  watched: undefined
}

export const test = plain.extend<PerTest, PerWorker>({
  settings: [{}, { scope: 'worker', option: true }],
  sluice: [
    async ({ settings }, use) => {
      const installation = await startInstallation(settings)
      const door = await request.newContext({ baseURL: installation.address })
      const reply = await door.post('/api/setup', { data: OWNER, headers: { origin: installation.address } })
      expect(reply.status(), await reply.text()).toBe(201)
      await use({ ...installation, signedIn: await door.storageState() })
      await door.dispose()
      await installation.end()
    },
    // Start and stop together; the start may have to build the dashboard first.
    { scope: 'worker', timeout: 300_000 },
  ],
  baseURL: ({ sluice }, use) => use(sluice.address),
  storageState: ({ sluice }, use) => use(sluice.signedIn),
  owner: async ({ sluice }, use) => {
    const owner = await request.newContext({
      baseURL: sluice.address,
      storageState: sluice.signedIn,
      extraHTTPHeaders: { origin: sluice.address },
    })
    await use(owner)
    await owner.dispose()
  },
  watched: [
    async ({ page }, use) => {
      const complaints = watch(page)
      await use(undefined)
      expect(complaints).toEqual([])
    },
    { auto: true },
  ],
})

/** Collects what the browser complains about: policy violations, errors of the page, failed loads of its own files. */
export function watch(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', error => complaints.push(error.message))
  page.on('console', message => {
    // A refusal is an answer, and the browser logs it as an error: it is for the test to look at.
    const isRefusal = message.text().startsWith('Failed to load resource') && message.location().url.includes('/api/')
    if (message.type() === 'error' && !isRefusal) complaints.push(message.text())
  })
  return complaints
}

/** Sends what a test needs to be there, and answers the reply's body. */
export async function send(owner: APIRequestContext, method: string, path: string, data?: unknown) {
  const reply = await owner.fetch(path, { method, ...(data === undefined ? {} : { data }) })
  expect(reply.ok(), `${method} ${path}: ${await reply.text()}`).toBe(true)
  return (await reply.json()) as Record<string, unknown> & { id: string }
}

export { expect }
