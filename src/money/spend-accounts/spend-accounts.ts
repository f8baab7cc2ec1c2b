/**
 * Spend accounts: accounts at ad platforms whose spend Sluice reads. Owns `spend_accounts`, which claims.ts also writes for the process that
 * reads an account. The token is stored encrypted and sent only to its platform. Deletion is soft, so that an account that is connected again
 * keeps its id and its spend is not counted twice; the token is deleted at once.
 */
import { type Kysely, sql, type Transaction, type Updateable } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { unbookSpend } from '../ad-spend/booked.ts'
import { MOST_DAYS, PROVIDER_LABELS } from './api.ts'
import type * as api from './api.ts'
import { forgetSpend, originOf } from './booking.ts'
import { hintOf } from './faults.ts'
import { readSpendDays, readAccountFigures, readUnmatchedSpend } from './figures.ts'
import { forgetMatches } from './matching.ts'
import type { SpendFaultCode } from './reader.ts'

const COLUMNS = [
  'id',
  'provider',
  'external_id',
  'name',
  'token_hint',
  'id_in',
  'level',
  'campaign_id',
  'state',
  'timezone',
  'currency',
  'synced_at',
  'due_at',
  'fault_code',
  'fault_words',
  'fault_since',
  'created_at',
  'updated_at',
] as const
const IS_SYNCING = sql<boolean>`(claimed_until is not null and claimed_until > now())`

type SpendAccountRow = Omit<api.SpendAccount, 'next_sync_at' | 'fault' | 'last_30_days'> & {
  due_at: string
  fault_code: SpendFaultCode | null
  fault_words: string | null
  fault_since: string | null
}

/** Accounts of the organization, newest first, with their spend of the last 30 days. */
export async function listSpendAccounts(
  { db, actor }: Context<typeof api.listSpendAccounts>,
  { query }: Call<typeof api.listSpendAccounts>,
) {
  const { data, next_cursor } = await newestFirst(rowsOf(db, actor.org_id), query)
  return { data: await withFigures(db, actor.org_id, data), next_cursor }
}

/** One account, with its days and its unmatched spend. Refuses `object_not_found`. */
export async function readSpendAccount(
  { db, actor }: Context<typeof api.readSpendAccount>,
  { params }: Call<typeof api.readSpendAccount>,
) {
  const { org_id } = actor
  const account = await accountOf(db, org_id, idOf(params.id))
  const [unmatched, days] = await Promise.all([
    readUnmatchedSpend(db, org_id, account.id, Date.now()),
    readSpendDays(db, org_id, account.id, Date.now()),
  ])
  return { ...account, unmatched, days }
}

/**
 * Connects an account, which is read at once; a disconnected one is restored. Refuses `already_exists`, `object_not_found` for a campaign of
 * another organization, `invalid_request` if neither id_in nor campaign_id is given.
 */
export async function createSpendAccount(
  { db, actor, secrets }: Context<typeof api.createSpendAccount>,
  { body }: Call<typeof api.createSpendAccount>,
) {
  const { org_id } = actor
  requireAssignment(body)
  const { access_token, ...fields } = body
  const now = new Date().toISOString()
  const fresh = {
    ...fields,
    ...sealedToken(access_token, secrets),
    ...dueNow(now),
    state: 'active',
    created_by: actor.user_id,
    updated_at: now,
  } as const
  const id = await db.transaction().execute(async trx => {
    await requireCampaign(trx, org_id, body.campaign_id)
    const written = await trx
      .insertInto('spend_accounts')
      .values({ org_id, id: newId(), ...fresh, created_at: now })
      .onConflict(on => on.columns(['org_id', 'provider', 'external_id']).doNothing())
      .returning('id')
      .executeTakeFirst()
    return written?.id ?? (await reconnect(trx, org_id, body, fresh))
  })
  return accountOf(db, org_id, id)
}

/** Restores a disconnected account. Refuses `already_exists` if it is connected. */
async function reconnect(
  trx: Transaction<Tables>,
  org_id: number,
  { provider, external_id }: api.SpendAccountDraft,
  fresh: SpendAccountUpdate,
): Promise<string> {
  const back = await trx
    .updateTable('spend_accounts')
    .set({ ...fresh, timezone: null, currency: null, synced_at: null, deep_on: null, deleted_at: null })
    .where('org_id', '=', org_id)
    .where('provider', '=', provider)
    .where('external_id', '=', external_id)
    .where('deleted_at', 'is not', null)
    .returning('id')
    .executeTakeFirst()
  if (back !== undefined) return back.id
  return refuse('already_exists', {
    error: `the ${PROVIDER_LABELS[provider]} account ${external_id} is connected already`,
    hint: 'Change the existing account; connected twice, its spend would count twice.',
  })
}

/** Changes the fields that are sent. Refuses `object_not_found`, and `invalid_request` if neither id_in nor campaign_id would remain. */
export async function updateSpendAccount(
  { db, actor, secrets }: Context<typeof api.updateSpendAccount>,
  { params, body }: Call<typeof api.updateSpendAccount>,
) {
  const { org_id } = actor
  const id = idOf(params.id)
  await changeAccount(db, org_id, id, async (was, trx) => {
    const { access_token, ...fields } = body
    const { id_in = was.id_in, campaign_id = was.campaign_id } = fields
    requireAssignment({ id_in, campaign_id })
    if (campaign_id !== was.campaign_id) await requireCampaign(trx, org_id, campaign_id)
    const isSwitched = fields.state !== undefined && fields.state !== was.state
    const isBookedElsewhere = (['id_in', 'level', 'campaign_id'] as const).some(
      name => fields[name] !== undefined && fields[name] !== was[name],
    )
    if (isBookedElsewhere) await forgetMatches(trx, org_id, id)
    const isReadAgain = isBookedElsewhere || isSwitched || access_token !== undefined
    return {
      ...fields,
      ...(access_token !== undefined && sealedToken(access_token, secrets)),
      // Ends the claim of a process that reads it with the old values.
      ...(isReadAgain && dueNow(new Date().toISOString())),
      ...(isBookedElsewhere && { asked_days: MOST_DAYS }),
    }
  })
  return accountOf(db, org_id, id)
}

/** Disconnects an account and deletes its token; with `take_back` also its booked spend. Refuses `object_not_found`. */
export async function deleteSpendAccount(
  { db, actor }: Context<typeof api.deleteSpendAccount>,
  { params, query }: Call<typeof api.deleteSpendAccount>,
) {
  const { org_id } = actor
  await changeAccount(db, org_id, idOf(params.id), async ({ id }, trx) => {
    if (query.take_back === 'true') {
      await unbookSpend(trx, org_id, originOf(id))
      await forgetSpend(trx, org_id, id)
    }
    const deleted_at = new Date().toISOString()
    return { deleted_at, token: Buffer.alloc(0), token_hint: '', claim: null, claimed_until: null }
  })
  return { ok: true as const }
}

/** Makes an account due now. If it is being read, that continues, unless `days` is given. Refuses `object_not_found`, `invalid_request` if it is off. */
export async function syncSpendAccount(
  { db, actor }: Context<typeof api.syncSpendAccount>,
  { params, body }: Call<typeof api.syncSpendAccount>,
) {
  const id = idOf(params.id)
  await changeAccount(db, actor.org_id, id, async ({ state, is_syncing }) => {
    if (state === 'off')
      refuse('invalid_request', {
        error: 'the account is switched off',
        hint: 'Switch it on; it is then read at once.',
      })
    if (is_syncing && body.days == null) return {}
    const now = new Date().toISOString()
    return { due_at: now, asked_days: body.days ?? null, claim: null, claimed_until: null }
  })
  return accountOf(db, actor.org_id, id)
}

type SpendAccountUpdate = Updateable<Tables['spend_accounts']>

/** Makes an account due at once, unclaimed and without its fault, because someone has changed it. */
const dueNow = (now: string) =>
  ({
    due_at: now,
    claim: null,
    claimed_until: null,
    failures: 0,
    fault_code: null,
    fault_words: null,
    fault_since: null,
  }) as const

const HINT_CHARACTERS = 4

const sealedToken = (token: string, secrets: Context<typeof api.createSpendAccount>['secrets']) => ({
  token: secrets.seal(token),
  token_hint: `…${token.slice(-HINT_CHARACTERS)}`,
})

function requireAssignment({ id_in, campaign_id }: Pick<api.SpendAccount, 'id_in' | 'campaign_id'>): void {
  if (id_in === null && campaign_id === null)
    refuse('invalid_request', {
      error: 'id_in: the spend is assigned to no campaign',
      hint: 'Send the sub that holds the platform’s id in id_in, or the campaign for all spend in campaign_id.',
    })
}

async function requireCampaign(db: Kysely<Tables>, org_id: number, id: string | null): Promise<void> {
  if (id === null) return
  const campaign = db.selectFrom('campaigns').select('id').where('org_id', '=', org_id).where('id', '=', id)
  if ((await campaign.executeTakeFirst()) === undefined) refuse('object_not_found', { error: 'campaign_id: not found' })
}

/** Applies `changesOf` to a connected account. Its row is locked, so that no booking with the old values comes after the change. */
async function changeAccount(
  db: Kysely<Tables>,
  org_id: number,
  id: string,
  changesOf: (was: SpendAccountRow, trx: Transaction<Tables>) => Promise<SpendAccountUpdate>,
): Promise<void> {
  await db.transaction().execute(async trx => {
    const was = await rowsOf(trx, org_id).where('id', '=', id).forUpdate().executeTakeFirst()
    const changes = await changesOf(was ?? refuse('object_not_found'), trx)
    await trx
      .updateTable('spend_accounts')
      .set({ ...changes, updated_at: new Date().toISOString() })
      .where('org_id', '=', org_id)
      .where('id', '=', id)
      .execute()
  })
}

const rowsOf = (db: Kysely<Tables>, org_id: number) =>
  db
    .selectFrom('spend_accounts')
    .select(COLUMNS)
    .select(IS_SYNCING.as('is_syncing'))
    .where('org_id', '=', org_id)
    .where('deleted_at', 'is', null)
    .$castTo<SpendAccountRow>()

async function accountOf(db: Kysely<Tables>, org_id: number, id: string): Promise<api.SpendAccount> {
  const row = await rowsOf(db, org_id).where('id', '=', id).executeTakeFirst()
  const [account] = await withFigures(db, org_id, row === undefined ? [] : [row])
  return account ?? refuse('object_not_found')
}

async function withFigures(
  db: Kysely<Tables>,
  org_id: number,
  rows: readonly SpendAccountRow[],
): Promise<api.SpendAccount[]> {
  const figures = await readAccountFigures(
    db,
    org_id,
    rows.map(({ id }) => id),
    Date.now(),
  )
  return rows.map(({ due_at, fault_code, fault_words, fault_since, ...row }) => ({
    ...row,
    next_sync_at: due_at,
    fault:
      fault_code === null || fault_since === null
        ? null
        : { code: fault_code, error: fault_words ?? '', hint: hintOf(row.provider, fault_code), since: fault_since },
    last_30_days: figures(row.id),
  }))
}
