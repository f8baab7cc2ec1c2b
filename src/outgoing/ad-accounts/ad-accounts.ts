/**
 * Ad accounts: where conversions are reported to, so that a platform learns which of its clicks were worth the money. Owns `ad_accounts`;
 * besides the deeds here only breaking.ts changes it. The credential is kept encrypted and leaves towards its platform alone. Deletion is
 * soft, because deliveries go on naming their account, but the credential goes at once. Which accounts there are, what they take and
 * whether they are switched off changes between conversions only: each of them is told to whom it was meant for at its moment.
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
import { forgetFailures } from '../deliveries/breaker.ts'
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
  let rows = live(db, actor.org_id).select(COLUMNS)
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

/** Connects an account, which is active at once. Refuses `invalid_request` for a key that is none, or a Purchase without a value. */
export async function createAdAccount(
  { db, actor, secrets }: Context<typeof api.createAdAccount>,
  { body }: Call<typeof api.createAdAccount>,
) {
  const event_map = body.event_map ?? DEFAULT_MAPS[body.platform]
  requireValues(body.platform, body.settings, event_map)
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

/** Replaces the parts that are sent. A new credential brings a broken account back, and its platform may be asked again at once. */
export async function updateAdAccount(
  { db, actor, secrets }: Context<typeof api.updateAdAccount>,
  { params, body }: Call<typeof api.updateAdAccount>,
) {
  const renewed = body.credentials && credentialOf(body.credentials)
  const account = await changeAccount(db, actor.org_id, idOf(params.id), (now, at) => {
    if (body.platform !== now.platform)
      refuse('invalid_request', {
        error: `platform: this account is one of ${AD_PLATFORM_LABELS[now.platform]}`,
        hint: 'An account keeps its platform. Connect another account for another one.',
      })
    requireValues(body.platform, body.settings ?? now.settings, body.event_map ?? now.event_map)
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
  // Someone has put something right: a breaker that waits for it would only hold the next attempt up.
  await forgetFailures(db, actor.org_id, account.id)
  return account
}

/** Deletes softly and destroys the credential. Refuses `in_use` while a campaign names the account. */
export async function deleteAdAccount(
  { db, actor }: Context<typeof api.deleteAdAccount>,
  { params }: Call<typeof api.deleteAdAccount>,
) {
  await changeAccount(db, actor.org_id, idOf(params.id), async ({ id }, at, trx) => {
    await requireUnbound(trx, actor.org_id, id)
    return { deleted_at: at, credential: Buffer.alloc(0), credential_hint: '' }
  })
  return { ok: true as const }
}

type Changes = Updateable<Tables['ad_accounts']>

/**
 * Writes to a live account what `changesOf` makes of how it is now, tells every process and answers the row. Refuses `object_not_found`.
 * The row is held from reading to writing, so that the worker does not break what has just been put right.
 */
async function changeAccount(
  db: Kysely<Tables>,
  org_id: number,
  id: string,
  changesOf: (now: api.AdAccount, at: string, trx: Transaction<Tables>) => Changes | Promise<Changes>,
): Promise<api.AdAccount> {
  const account = await betweenConversions(db, org_id, async (trx, at) => {
    const row = live(trx, org_id).select(COLUMNS).where('id', '=', id).forUpdate().$castTo<api.AdAccount>()
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

const live = (db: Kysely<Tables>, org_id: number) =>
  db.selectFrom('ad_accounts').where('org_id', '=', org_id).where('deleted_at', 'is', null)

async function accountOf(db: Kysely<Tables>, org_id: number, id: string): Promise<api.AdAccount> {
  const row = await live(db, org_id).select(COLUMNS).where('id', '=', id).$castTo<api.AdAccount>().executeTakeFirst()
  return row ?? refuse('object_not_found')
}

async function requireUnbound(db: Kysely<Tables>, org_id: number, id: string): Promise<void> {
  const bound = await db
    .selectFrom('campaigns')
    .select('name')
    .where('org_id', '=', org_id)
    .where('ad_account_id', '=', id)
    .where('deleted_at', 'is', null)
    .limit(3)
    .execute()
  if (bound.length > 0)
    refuse('in_use', {
      error: `campaigns name this account: ${bound.map(({ name }) => name).join(', ')}`,
      hint: 'Choose another account, or none, in these campaigns first.',
    })
}

/** Meta refuses a Purchase without a value and a currency, so no map may promise one. */
function requireValues(
  platform: api.AdAccount['platform'],
  settings: api.AdAccount['settings'],
  event_map: api.EventMap,
): void {
  if (platform !== 'meta' || ('use_payout_as_value' in settings && settings.use_payout_as_value)) return
  for (const [type, mapped] of Object.entries(event_map))
    if (mapped.name === META_PURCHASE && mapped.custom_data?.value === undefined)
      refuse('invalid_request', {
        error: `event_map.${type}.custom_data: Meta takes a Purchase only with a value and a currency`,
        hint: 'Name both, or let the account use the payout as value.',
      })
}

const SHOWN_CHARACTERS = 4

type Credentials = api.AdAccountDraft['credentials']

/** What is kept of the credentials, and what of it may be shown. Refuses `invalid_request` for a key that Google would not know. */
function credentialOf(credentials: Credentials): { credential: string; hint: string } {
  if ('access_token' in credentials) {
    const { access_token } = credentials
    return { credential: access_token, hint: `…${access_token.slice(-SHOWN_CHARACTERS)}` }
  }
  const credential = credentials.service_account
  try {
    const { client_email, private_key } = serviceAccountOf(credential)
    if (createPrivateKey(private_key).asymmetricKeyType === 'rsa') return { credential, hint: client_email }
  } catch {
    // What could not be read is refused below, without a word of it: it may hold half a key.
  }
  return refuse('invalid_request', {
    error: 'credentials.service_account: is not the JSON key of a service account',
    hint: 'Paste the whole file that Google Cloud gave for the key, from the first brace to the last.',
  })
}
