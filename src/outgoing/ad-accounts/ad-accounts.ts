/**
 * Ad accounts: the accounts at ad platforms that conversions are reported to. Owns `ad_accounts`; besides the deeds here only breaking.ts
 * changes it. The credential is stored encrypted and sent only to its platform. Deletion is soft, because deliveries keep naming their account,
 * but the credential is deleted at once. Changes run between conversions (`betweenConversions`), so that each conversion is reported to the
 * accounts that existed at its time.
 */
import { createPrivateKey } from 'node:crypto'
import { type Kysely, sql, type Transaction, type Updateable } from 'kysely'
import { AD_PLATFORM_LABELS, DEFAULT_MAPS, META_PURCHASE } from '../../contract/ad-platforms.ts'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { betweenConversions } from '../../money/billing/balance.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import { resetBreaker } from '../deliveries/breaker.ts'
import type * as api from './api.ts'
import { serviceAccountOf } from './google-token.ts'

const COLUMNS = [
  'id',
  'platform',
  'name',
  'settings',
  'credential_hint',
  'event_map',
  sql<api.AdAccount['send_when']>`coalesce(send_when, 'recorded')`.as('send_when'),
  sql<boolean>`coalesce(restate, false)`.as('restate'),
  'state',
  'state_reason',
  'state_changed_at',
  'created_at',
  'updated_at',
] as const

/** Accounts of the organization, newest first. */
export async function listAdAccounts(
  { db, actor }: Context<typeof api.listAdAccounts>,
  { query }: Call<typeof api.listAdAccounts>,
) {
  const { platform, state } = query
  let rows = connectedAccounts(db, actor.org_id).select(COLUMNS)
  if (platform !== undefined) rows = rows.where('platform', '=', platform)
  if (state !== undefined) rows = rows.where('state', '=', state)
  return await newestFirst(rows.$castTo<api.AdAccount>(), query)
}

/** One account. Refuses `object_not_found`. */
export async function readAdAccount(
  { db, actor }: Context<typeof api.readAdAccount>,
  { params }: Call<typeof api.readAdAccount>,
) {
  return await accountOf(db, actor.org_id, idOf(params.id))
}

/** Connects an account, which is active at once. Refuses `invalid_request` for an invalid key, or for a Purchase without a value. */
export async function createAdAccount(
  { db, actor, secrets }: Context<typeof api.createAdAccount>,
  { body }: Call<typeof api.createAdAccount>,
) {
  const event_map = body.event_map ?? DEFAULT_MAPS[body.platform]
  requirePurchaseValues(body.platform, body.settings, event_map)
  const { credential, hint } = credentialOf(body.credentials)
  const account = await betweenConversions(db, actor.org_id, (trx, now) =>
    trx
      .insertInto('ad_accounts')
      .values({
        org_id: actor.org_id,
        id: newId(),
        platform: body.platform,
        name: body.name,
        settings: JSON.stringify(body.settings),
        credential: secrets.seal(credential),
        credential_hint: hint,
        event_map: JSON.stringify(event_map),
        send_when: body.send_when ?? null,
        restate: 'restate' in body ? (body.restate ?? null) : null,
        state: 'active',
        state_changed_at: now,
        created_at: now,
        updated_at: now,
      })
      .returning(COLUMNS)
      .$castTo<api.AdAccount>()
      .executeTakeFirstOrThrow(),
  )
  await announceChange(db, actor.org_id, account.id)
  return account
}

/** Replaces the parts that are sent. A new credential makes a broken account active again, and its breaker is reset. */
export async function updateAdAccount(
  { db, actor, secrets }: Context<typeof api.updateAdAccount>,
  { params, body }: Call<typeof api.updateAdAccount>,
) {
  const renewed = body.credentials && credentialOf(body.credentials)
  const account = await changeAccount(db, actor.org_id, idOf(params.id), (now, at) => {
    if (body.platform !== now.platform)
      refuse('invalid_request', {
        error: `platform: this is a ${AD_PLATFORM_LABELS[now.platform]} account`,
        hint: 'The platform of an account cannot change. Connect another account instead.',
      })
    requirePurchaseValues(body.platform, body.settings ?? now.settings, body.event_map ?? now.event_map)
    const state = body.state ?? (renewed !== undefined && now.state === 'broken' ? 'active' : now.state)
    return {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.settings === undefined ? {} : { settings: JSON.stringify(body.settings) }),
      ...(body.event_map === undefined ? {} : { event_map: JSON.stringify(body.event_map) }),
      ...(body.send_when === undefined ? {} : { send_when: body.send_when }),
      ...(!('restate' in body) || body.restate === undefined ? {} : { restate: body.restate }),
      ...(renewed === undefined ? {} : { credential: secrets.seal(renewed.credential), credential_hint: renewed.hint }),
      ...(state === now.state ? {} : { state, state_reason: null, state_changed_at: at }),
    }
  })
  // Someone has corrected the account, so the next attempt need not wait for the breaker.
  await resetBreaker(db, actor.org_id, account.id)
  return account
}

/** Deletes softly and deletes the credential. Refuses `in_use` while a campaign names the account. */
export async function deleteAdAccount(
  { db, actor }: Context<typeof api.deleteAdAccount>,
  { params }: Call<typeof api.deleteAdAccount>,
) {
  await changeAccount(db, actor.org_id, idOf(params.id), async ({ id }, at, trx) => {
    await requireUnused(trx, actor.org_id, id)
    return { deleted_at: at, credential: Buffer.alloc(0), credential_hint: '' }
  })
  return { ok: true as const }
}

type AdAccountUpdate = Updateable<Tables['ad_accounts']>

/**
 * Applies `changesOf` to a connected account, notifies every process and returns the row. Refuses `object_not_found`. The row is locked, so that
 * the worker cannot mark the account broken in between.
 */
async function changeAccount(
  db: Kysely<Tables>,
  org_id: number,
  id: string,
  changesOf: (now: api.AdAccount, at: string, trx: Transaction<Tables>) => AdAccountUpdate | Promise<AdAccountUpdate>,
): Promise<api.AdAccount> {
  const account = await betweenConversions(db, org_id, async (trx, at) => {
    const row = connectedAccounts(trx, org_id).select(COLUMNS).where('id', '=', id).forUpdate().$castTo<api.AdAccount>()
    const changes = await changesOf((await row.executeTakeFirst()) ?? refuse('object_not_found'), at, trx)
    return await trx
      .updateTable('ad_accounts')
      .set({ ...changes, updated_at: at })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .returning(COLUMNS)
      .$castTo<api.AdAccount>()
      .executeTakeFirstOrThrow()
  })
  await announceChange(db, org_id, id)
  return account
}

const connectedAccounts = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('ad_accounts').where('org_id', '=', org_id).where('deleted_at', 'is', null)

async function accountOf(db: Kysely<Tables>, org_id: number, id: string): Promise<api.AdAccount> {
  const row = await connectedAccounts(db, org_id)
    .select(COLUMNS)
    .where('id', '=', id)
    .$castTo<api.AdAccount>()
    .executeTakeFirst()
  return row ?? refuse('object_not_found')
}

async function requireUnused(db: Kysely<Tables>, org_id: number, id: string): Promise<void> {
  const campaigns = await db
    .selectFrom('campaigns')
    .select('name')
    .where('org_id', '=', org_id)
    .where('ad_account_id', '=', id)
    .where('deleted_at', 'is', null)
    .limit(3)
    .execute()
  if (campaigns.length > 0)
    refuse('in_use', {
      error: `campaigns use this account: ${campaigns.map(({ name }) => name).join(', ')}`,
      hint: 'Choose another account, or none, in these campaigns first.',
    })
}

/** Refuses an event map with a Purchase without value and currency, because Meta would refuse every such event. */
function requirePurchaseValues(
  platform: api.AdAccount['platform'],
  settings: api.AdAccount['settings'],
  event_map: api.EventMap,
): void {
  if (platform !== 'meta' || ('use_payout_as_value' in settings && settings.use_payout_as_value)) return
  for (const [type, mapped] of Object.entries(event_map))
    if (mapped.name === META_PURCHASE && mapped.custom_data?.value === undefined)
      refuse('invalid_request', {
        error: `event_map.${type}.custom_data: Meta accepts a Purchase only with a value and a currency`,
        hint: 'Send both, or set use_payout_as_value.',
      })
}

const HINT_CHARACTERS = 4

type Credentials = api.AdAccountDraft['credentials']

/** The credential to store, and the hint shown for it. Refuses `invalid_request` for anything but the RSA key of a service account. */
function credentialOf(credentials: Credentials): { credential: string; hint: string } {
  if ('access_token' in credentials) {
    const { access_token } = credentials
    return { credential: access_token, hint: `…${access_token.slice(-HINT_CHARACTERS)}` }
  }
  const credential = credentials.service_account
  try {
    const { client_email, private_key } = serviceAccountOf(credential)
    if (createPrivateKey(private_key).asymmetricKeyType === 'rsa') return { credential, hint: client_email }
  } catch {
    // Refused below without the parse error, which may quote part of the key.
  }
  return refuse('invalid_request', {
    error: 'credentials.service_account: is not the JSON key of a service account',
    hint: 'Paste the whole key file from Google Cloud, from the first brace to the last.',
  })
}
