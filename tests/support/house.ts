// A whole Sluice in this process on a fresh database, called through its gate, and functions that seed organizations, people and keys.
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { type Logger, pino } from 'pino'
import { newId, toWireId } from '../../src/contract/ids.ts'
import type { Right } from '../../src/contract/rights.ts'
import { RIGHTS } from '../../src/contract/rights.ts'
import { type Config, readConfig } from '../../src/ground/config.ts'
import type { Database } from '../../src/ground/db/connect.ts'
import { type House, type HouseOptions, openHouse } from '../../src/house.ts'
import { firstCharacters, hashSecret, newSecret } from '../../src/people/keys/secret.ts'
import { freshDatabase } from './database.ts'
import { assertDescribed } from './described.ts'
import { keepForProcess } from './shared.ts'
import { PATIENT } from './visits.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS'
export type Sent = {
  key?: string
  cookie?: string
  body?: unknown
  headers?: Record<string, string>
  payload?: string | Buffer
  /** The caller's IP address, if not loopback. */
  from?: string
}

/** The origin of a test house's dashboard. */
export const ORIGIN = 'http://localhost:8080'

export type TestHouse = House & {
  database: Database
  /** Calls a route and checks its answer against the OpenAPI document. `body` is sent as JSON, `key` as x-api-key, `cookie` with the dashboard's Origin. */
  call(
    method: Method,
    url: string,
    sent?: Sent,
  ): Promise<LightMyRequestResponse & { data: () => Record<string, unknown> }>
  /** Closes the house and drops its database. */
  end(): Promise<void>
}

/**
 * The house that all test files of this process share, on its own database and with default settings. Each file seeds its own
 * organizations. The house is closed after the last file of the process.
 */
export const useHouse = keepForProcess(() => startHouse())

/** Starts a house on a fresh database, with the settings of `env` and its own data folder. It listens on a port only if the options say so. */
export async function startHouse(
  env: Record<string, string> = {},
  options: HouseOptions = {},
  log?: Logger,
): Promise<TestHouse> {
  const fresh = await freshDatabase()
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-house-'))
  const house = await openTestHouse(fresh.database, { DATA_DIR: dataDir, ...env }, options, log)
  return {
    ...house,
    async end() {
      await house.close()
      await fresh.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** A house on an existing database, as a second process or after a restart. It has its own data folder unless `env` names one. */
export async function openTestHouse(
  database: Database,
  env: Record<string, string>,
  options: HouseOptions = {},
  log?: Logger,
): Promise<TestHouse> {
  const ownDir = env['DATA_DIR'] === undefined ? mkdtempSync(join(tmpdir(), 'sluice-house-')) : undefined
  const config: Config = readConfig({
    ...(ownDir !== undefined && { DATA_DIR: ownDir }),
    PORT: '0',
    SECRET: 'a secret that only tests know',
    LOG_LEVEL: 'silent',
    ALLOW_PRIVATE_TARGETS: 'true',
    FX_SOURCES: 'off',
    // Tests would write it thousands of times.
    JOURNAL_RESERVE_MB: '0',
    // Nothing listens there, so that no test calls Telegram.
    TELEGRAM_API_ROOT: 'http://127.0.0.1:9',
    ...env,
  })
  // Scans may be slow on a busy machine, and tests wait for them but are not about their time.
  const explore = { question_ms: 300_000, ...options.explore }
  const patient = { patience: PATIENT, ...options, explore }
  const house = await openHouse(config, database, log ?? pino({ level: config.logLevel }), patient)
  return {
    ...house,
    database,
    call: (method, url, sent = {}) => call(house, method, url, sent),
    async end() {
      await house.close()
      if (ownDir !== undefined) rmSync(ownDir, { recursive: true, force: true })
    },
  }
}

async function call(house: House, method: Method, url: string, { key, cookie, body, headers, payload, from }: Sent) {
  const request: InjectOptions = {
    method,
    url,
    headers: {
      host: 'localhost:8080',
      ...(key === undefined ? {} : { 'x-api-key': key }),
      ...(cookie === undefined ? {} : { cookie, origin: ORIGIN }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    ...(payload === undefined ? {} : { payload }),
    ...(from === undefined ? {} : { remoteAddress: from }),
  }
  const response = await house.app.inject(request)
  await assertDescribed(house.furnished, method, url, response, request.headers?.['x-api-key'] !== undefined)
  return Object.assign(response, { data: () => response.json() as Record<string, unknown> })
}

export type SeededOrganization = { org_id: number; organization_id: string; user_id: string }

/** An organization with an open balance and one member, who is a new person unless named. */
export async function seedOrganization(
  database: Database,
  {
    role = 'owner',
    user_id = newId(),
    balance = '10',
    price = '0.05',
  }: { role?: 'owner' | 'admin' | 'member'; user_id?: string; balance?: string; price?: string } = {},
): Promise<SeededOrganization> {
  const db = database.kysely
  const now = new Date().toISOString()
  const organization_id = newId()
  const org_id = randomInt(1, 2 ** 31 - 1)
  await db
    .insertInto('users')
    .values({
      id: user_id,
      name: 'Person',
      email: `${user_id}@example.com`,
      email_verified: true,
      created_at: now,
      updated_at: now,
    })
    .onConflict(on => on.doNothing())
    .execute()
  await db.insertInto('organizations').values({ org_id, id: organization_id, name: 'Acme', created_at: now }).execute()
  await db.insertInto('members').values({ id: newId(), org_id, user_id, role, joined_at: now }).execute()
  await db.insertInto('balances').values({ org_id, balance, price_per_person: price, hold_when_empty: false }).execute()
  if (Number(balance) !== 0)
    await db
      .insertInto('ledger')
      .values({ org_id, id: newId(), kind: 'top_up', amount: balance, created_at: now })
      .execute()
  return { org_id, organization_id, user_id }
}

type SeededKey = { secret: string; key_id: string }

/** A key of the organization's member. `rights` undefined: fresh. `campaigns` are wire ids or uuids of the restriction. */
export async function seedKey(
  database: Database,
  { org_id, user_id }: Pick<SeededOrganization, 'org_id' | 'user_id'>,
  {
    rights,
    campaigns,
    issued_at = new Date().toISOString(),
  }: { rights?: readonly Right[]; campaigns?: string[]; issued_at?: string } = {},
): Promise<SeededKey> {
  const db = database.kysely
  const secret = newSecret()
  const key_id = newId()
  await db
    .insertInto('api_keys')
    .values({
      id: key_id,
      user_id,
      name: 'Test key',
      hash: hashSecret(secret),
      first_characters: firstCharacters(secret),
      created_at: issued_at,
      enabled: true,
    })
    .execute()
  if (rights !== undefined) {
    const tier = (name: 'read' | 'write' | 'delete') => rights.filter(right => RIGHTS[right].tier === name)
    await db
      .insertInto('api_key_grants')
      .values({
        key_id,
        org_id,
        read: tier('read'),
        write: tier('write'),
        delete: tier('delete'),
        campaigns: campaigns ?? null,
        saved_at: issued_at,
        saved_by: user_id,
      })
      .execute()
  }
  return { secret, key_id }
}

export { newId, toWireId }
