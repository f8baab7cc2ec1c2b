// The fixtures of the browser tests. Each worker has its own Sluice: the real process on a fresh database, with its owner signed in.
// Every test fails if a page breaks the content security policy or throws.
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
import pg from 'pg'
import { freshDatabase } from '../support/database.ts'
import { patient } from '../support/explore-processes.ts'
import { startSluice } from '../support/sluice.ts'

export const OWNER = {
  name: 'Mara Lindqvist',
  email: 'mara@example.com',
  password: 'correct horse battery',
  organization: 'Northwind',
}

type State = Awaited<ReturnType<BrowserContext['storageState']>>
/** `database` is for data that no screen can create, such as yesterday’s clicks. */
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

/** `settings` are the settings of the worker's Sluice. A spec with settings has its own worker. */
type PerWorker = { settings: Record<string, string>; sluice: Installation & { signedIn: State } }
type PerTest = {
  /** The owner's session outside of the browser, to create what a test needs. */
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
    // For start and stop together. The start may have to build the dashboard first.
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

/** Collects the browser's complaints: policy violations, errors of the page, and files that failed to load. */
export function watch(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', error => complaints.push(error.message))
  page.on('console', message => {
    // The browser logs a refused call as an error, but whether it is one is for the test to say.
    const isRefusal = message.text().startsWith('Failed to load resource') && message.location().url.includes('/api/')
    if (message.type() === 'error' && !isRefusal) complaints.push(message.text())
  })
  return complaints
}

/** Sends a request, which must succeed, and returns the body of the reply. */
export async function send(owner: APIRequestContext, method: string, path: string, data?: unknown) {
  const reply = await owner.fetch(path, { method, ...(data === undefined ? {} : { data }) })
  expect(reply.ok(), `${method} ${path}: ${await reply.text()}`).toBe(true)
  return (await reply.json()) as Record<string, unknown> & { id: string }
}

/** Does something in the database, for what no screen can make. `org_id` is the organization of the owner; other specs of the worker add more. */
export async function inDatabase<T>(
  { database }: Installation,
  deed: (worker: pg.Pool, org_id: number) => Promise<T>,
): Promise<T> {
  const worker = new pg.Pool({ connectionString: database, max: 1 })
  try {
    const oldest = 'select org_id from organizations order by created_at limit 1'
    const { rows } = await worker.query<{ org_id: number }>(oldest)
    return await deed(worker, rows[0]?.org_id ?? 0)
  } finally {
    await worker.end()
  }
}

export { expect }
