/**
 * Spend accounts: accounts at ad platforms that are asked what traffic has cost. Owns `spend_accounts`; besides the deeds here claims.ts writes it, for the
 * process that reads an account. The token is kept encrypted and leaves towards its platform alone. Deletion is soft, so that an account that is
 * connected again is the same one and its spend is not counted twice; the token goes at once.
 */
import { type Kysely, sql, type Transaction, type Updateable } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { newId } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { newestFirst } from '../../ground/db/lists.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type Context, idOf } from '../../ground/room.ts'
import { unbook } from '../ad-spend/booked.ts'
import { MOST_DAYS, PROVIDER_LABELS } from './api.ts'
import type * as api from './api.ts'
import { forgetSpend, originOf } from './booking.ts'
import { hintOf } from './faults.ts'
import { readDays, readFigures, readUnmatched } from './figures.ts'
import { forgetMatches } from './matching.ts'
import type { Fault } from './reader.ts'

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

type Row = Omit<api.SpendAccount, 'next_sync_at' | 'fault' | 'last_30_days'> & {
  due_at: string
  fault_code: Fault | null
  fault_words: string | null
  fault_since: string | null
}

/** Accounts of the organization, newest first, with what they cost in the last 30 days. */
export async function listSpendAccounts(
  { db, actor }: Context<typeof api.listSpendAccounts>,
  { query }: Call<typeof api.listSpendAccounts>,
) {
  const { data, next_cursor } = await newestFirst(rowsOf(db, actor.org_id), query)
  return { data: await shown(db, actor.org_id, data), next_cursor }
}

/** One account, with its days and what was not matched. Refuses `object_not_found`. */
export async function readSpendAccount(
  { db, actor }: Context<typeof api.readSpendAccount>,
  { params }: Call<typeof api.readSpendAccount>,
) {
  const { org_id } = actor
  const account = await accountOf(db, org_id, idOf(params.id))
  const [unmatched, days] = await Promise.all([
    readUnmatched(db, org_id, account.id, Date.now()),
    readDays(db, org_id, account.id, Date.now()),
  ])
  return { ...account, unmatched, days }
}

/**
 * Connects an account, which is read at once; one that was disconnected before is the same again. Refuses `already_exists`, `object_not_found` for a
 * campaign that is not the organization's, `invalid_request` where nothing says whose the spend is.
 */
export async function createSpendAccount(
  { db, actor, secrets }: Context<typeof api.createSpendAccount>,
  { body }: Call<typeof api.createSpendAccount>,
) {
  const { org_id } = actor
  requireOwner(body)
  const { access_token, ...fields } = body
  const now = new Date().toISOString()
  const fresh = {
    ...fields,
    ...sealed(access_token, secrets),
    ...begun(now),
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

/** Of an account that is there: brings it back if it was disconnected. Refuses `already_exists` for one that is connected. */
async function reconnect(
  trx: Transaction<Tables>,
  org_id: number,
  { provider, external_id }: api.SpendAccountDraft,
  fresh: Changes,
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
    hint: 'Change the one that is there; counted twice, its spend would be wrong.',
  })
}

/** Changes the fields that are sent. Refuses `object_not_found`, and `invalid_request` where nothing says any more whose the spend is. */
export async function updateSpendAccount(
  { db, actor, secrets }: Context<typeof api.updateSpendAccount>,
  { params, body }: Call<typeof api.updateSpendAccount>,
) {
  const { org_id } = actor
  const id = idOf(params.id)
  await changeAccount(db, org_id, id, async (was, trx) => {
    const { access_token, ...fields } = body
    const { id_in = was.id_in, campaign_id = was.campaign_id } = fields
    requireOwner({ id_in, campaign_id })
    if (campaign_id !== was.campaign_id) await requireCampaign(trx, org_id, campaign_id)
    const isSwitched = fields.state !== undefined && fields.state !== was.state
    const isBookedElsewhere = (['id_in', 'level', 'campaign_id'] as const).some(
      name => fields[name] !== undefined && fields[name] !== was[name],
    )
    if (isBookedElsewhere) await forgetMatches(trx, org_id, id)
    const isAgain = isBookedElsewhere || isSwitched || access_token !== undefined
    return {
      ...fields,
      ...(access_token !== undefined && sealed(access_token, secrets)),
      // Whoever reads it now reads it as it was.
      ...(isAgain && begun(new Date().toISOString())),
      ...(isBookedElsewhere && { asked_days: MOST_DAYS }),
    }
  })
  return accountOf(db, org_id, id)
}

/** Disconnects an account and destroys its token; with `take_back` what it has booked goes as well. Refuses `object_not_found`. */
export async function deleteSpendAccount(
  { db, actor }: Context<typeof api.deleteSpendAccount>,
  { params, query }: Call<typeof api.deleteSpendAccount>,
) {
  const { org_id } = actor
  await changeAccount(db, org_id, idOf(params.id), async ({ id }, trx) => {
    if (query.take_back === 'true') {
      await unbook(trx, org_id, originOf(id))
      await forgetSpend(trx, org_id, id)
    }
    const deleted_at = new Date().toISOString()
    return { deleted_at, token: Buffer.alloc(0), token_hint: '', claim: null, claimed_until: null }
  })
  return { ok: true as const }
}

/** Makes an account due now. One that is being read goes on, unless more days are asked for. Refuses `object_not_found`, `invalid_request` for one that is off. */
export async function syncSpendAccount(
  { db, actor }: Context<typeof api.syncSpendAccount>,
  { params, body }: Call<typeof api.syncSpendAccount>,
) {
  const id = idOf(params.id)
  await changeAccount(db, actor.org_id, id, async ({ state, is_syncing }) => {
    if (state === 'off')
      refuse('invalid_request', {
        error: 'the account is switched off',
        hint: 'Switch it on: then it is read at once.',
      })
    if (is_syncing && body.days == null) return {}
    const now = new Date().toISOString()
    return { due_at: now, asked_days: body.days ?? null, claim: null, claimed_until: null }
  })
  return accountOf(db, actor.org_id, id)
}

type Changes = Updateable<Tables['spend_accounts']>

/** Due at once, claimed by nobody, and without the fault it had: someone has put something right. */
const begun = (now: string) =>
  ({
    due_at: now,
    claim: null,
    claimed_until: null,
    failures: 0,
    fault_code: null,
    fault_words: null,
    fault_since: null,
  }) as const

const SHOWN_CHARACTERS = 4

const sealed = (token: string, secrets: Context<typeof api.createSpendAccount>['secrets']) => ({
  token: secrets.seal(token),
  token_hint: `…${token.slice(-SHOWN_CHARACTERS)}`,
})

function requireOwner({ id_in, campaign_id }: Pick<api.SpendAccount, 'id_in' | 'campaign_id'>): void {
  if (id_in === null && campaign_id === null)
    refuse('invalid_request', {
      error: 'id_in: nothing says whose the spend is',
      hint: 'Name the sub that holds the platform’s id, or the campaign that all of the account’s spend is of.',
    })
}

async function requireCampaign(db: Kysely<Tables>, org_id: number, id: string | null): Promise<void> {
  if (id === null) return
  const campaign = db.selectFrom('campaigns').select('id').where('org_id', '=', org_id).where('id', '=', id)
  if ((await campaign.executeTakeFirst()) === undefined) refuse('object_not_found', { error: 'campaign_id: not found' })
}

/** Writes to a live account what `changesOf` makes of it as it is. Its row is held, so that no booking of how it was comes after. */
async function changeAccount(
  db: Kysely<Tables>,
  org_id: number,
  id: string,
  changesOf: (was: Row, trx: Transaction<Tables>) => Promise<Changes>,
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
    .$castTo<Row>()

async function accountOf(db: Kysely<Tables>, org_id: number, id: string): Promise<api.SpendAccount> {
  const row = await rowsOf(db, org_id).where('id', '=', id).executeTakeFirst()
  const [account] = await shown(db, org_id, row === undefined ? [] : [row])
  return account ?? refuse('object_not_found')
}

async function shown(db: Kysely<Tables>, org_id: number, rows: readonly Row[]): Promise<api.SpendAccount[]> {
  const figures = await readFigures(
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
