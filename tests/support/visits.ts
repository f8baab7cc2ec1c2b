// The part of Sluice that visitors of ads use: campaigns in memory, clicks, and the gate in front of them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LightMyRequestResponse } from 'fastify'
import { pino } from 'pino'
import { newId } from '../../src/contract/ids.ts'
import { openGate } from '../../src/gate/gate.ts'
import { openOnce } from '../../src/gate/once.ts'
import { openQuotas } from '../../src/gate/quota.ts'
import { readConfig } from '../../src/ground/config.ts'
import type { Database } from '../../src/ground/db/connect.ts'
import { openSecrets } from '../../src/ground/db/secrets.ts'
import { type Ground, room } from '../../src/ground/room.ts'
import * as clicksApi from '../../src/intake/clicks/api.ts'
import type { Click } from '../../src/intake/clicks/click.ts'
import { mintClickId } from '../../src/intake/clicks/click-id.ts'
import { type Clicks, clickDeeds, openClicks, type Patience } from '../../src/intake/clicks/clicks.ts'
import type { StoredCost } from '../../src/traffic/campaigns/cost.ts'
import { noParameters } from '../../src/intake/clicks/parameters.ts'
import { type LiveCampaigns, openLiveCampaigns } from '../../src/traffic/campaigns/live.ts'

export type Traffic = {
  readonly ground: Ground
  readonly live: LiveCampaigns
  readonly clicks: Clicks
  readonly dataDir: string
  visit(url: string, headers?: Record<string, string>, method?: 'GET' | 'HEAD'): Promise<LightMyRequestResponse>
  /** Stops it and removes the data folder; `keep` leaves the folder. */
  close(keep?: 'keep'): Promise<void>
}

/** Visitors wait as long as a busy machine takes, because the tests are not about time. */
export const PATIENT: Patience = { link_ms: 5000, place_ms: 10_000 }

/** Opens it on a database, with the settings of `env`, and its own data folder unless `env` names one. */
export async function startTraffic(database: Database, env: Record<string, string> = {}): Promise<Traffic> {
  const dataDir = env['DATA_DIR'] ?? mkdtempSync(join(tmpdir(), 'sluice-traffic-'))
  const settings = { SECRET: 'a secret that only tests know', LOG_LEVEL: 'silent', JOURNAL_RESERVE_MB: '0' }
  const config = readConfig({ ...settings, ...env, DATA_DIR: dataDir })
  const log = pino({ level: config.logLevel })
  const secrets = await openSecrets(config, database.kysely)
  const ground: Ground = { config, database, db: database.kysely, log, secrets }
  const live = await openLiveCampaigns(ground)
  const clicks = await openClicks(ground, live, undefined, PATIENT)
  const nobody = { verifyKey: async () => undefined, verifyToken: async () => undefined, whoIs: async () => undefined }
  const app = openGate(
    {
      ground,
      identities: nobody,
      memberships: { activeMembershipOf: async () => undefined },
      quotas: openQuotas(undefined, {}),
      once: openOnce(undefined),
    },
    room(clicksApi, clickDeeds(clicks)),
  )
  await app.ready()
  return {
    ground,
    live,
    clicks,
    dataDir,
    visit: (url, headers = {}, method = 'GET') => app.inject({ method, url, headers: { ...BROWSER, ...headers } }),
    async close(keep) {
      await app.close()
      await clicks.close()
      await live.close()
      if (keep === undefined) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** The headers of a mobile browser. */
export const BROWSER = {
  'user-agent':
    'Mozilla/5.0 (Linux; Android 13; SM-S908B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/112.0.0.0 Mobile Safari/537.36',
}

type SeededCampaign = { org_id: number; id: string; key: string }

/** A campaign that redirects; every field may be set. */
export async function seedCampaign(
  { kysely: db }: Database,
  org_id: number,
  fields: {
    id?: string
    key?: string
    destination?: object
    fallback_url?: string | null
    offer_id?: string | null
    source?: Record<string, string>
    strict_filter?: boolean
    cost?: StoredCost
    sites?: string[]
    status?: 'active' | 'paused' | 'archived'
    deleted_at?: string | null
    updated_at?: string
  } = {},
): Promise<SeededCampaign> {
  const now = new Date().toISOString()
  const id = fields.id ?? newId()
  const key = fields.key ?? id.slice(-12)
  const { destination = { type: 'redirect', url: 'https://offer.example/?c={click_id}' }, source = {} } = fields
  await db.insertInto('campaign_keys').values({ key, org_id, campaign_id: id }).execute()
  await db
    .insertInto('campaigns')
    .values({
      org_id,
      id,
      key,
      name: 'A campaign',
      destination: JSON.stringify(destination),
      offer_id: fields.offer_id ?? null,
      fallback_url: fields.fallback_url ?? null,
      source: JSON.stringify(source),
      strict_filter: fields.strict_filter ?? false,
      cost: fields.cost === undefined ? null : JSON.stringify(fields.cost),
      status: fields.status ?? 'active',
      sites: fields.sites ?? [],
      created_at: now,
      updated_at: fields.updated_at ?? now,
      deleted_at: fields.deleted_at ?? null,
    })
    .execute()
  return { org_id, id, key }
}

/** A click with default values and the given fields. */
export function aClick(clickKey: Uint8Array, org_id: number, fields: Partial<Click> = {}): Click {
  return {
    org_id,
    id: mintClickId(clickKey, org_id),
    campaign_id: null,
    offer_id: null,
    landing_id: null,
    tracked: true,
    test: false,
    geo: 'DE',
    device: 'mobile',
    os: 'Android',
    browser: 'Chrome',
    platform: null,
    ...noParameters(),
    visitor_id: null,
    visitor_is_new: null,
    ip_hash: null,
    ip_encrypted: null,
    user_agent: null,
    click_flow_node_path: null,
    ad_account_id: null,
    bot_id: null,
    suppressed_delivery: false,
    cost: null,
    cost_original: null,
    cost_currency: null,
    cost_counts: null,
    link_id: null,
    way: null,
    left_out: null,
    ...fields,
  }
}

type ClickCounts = { clicks: number; counted: number; tracked: number }

/** How many clicks an organization has, how many of them are tracked, and how many its report counts. */
export async function recount({ reads }: Database, org_id: number): Promise<ClickCounts> {
  const { rows } = await reads.query<ClickCounts>(
    `select (select count(*)::int from clicks where org_id = $1) as clicks,
      (select count(*)::int from clicks where org_id = $1 and tracked) as tracked,
      (select coalesce(sum(clicks), 0)::int from report_delta where org_id = $1) as counted`,
    [org_id],
  )
  return rows[0] ?? { clicks: 0, counted: 0, tracked: 0 }
}
