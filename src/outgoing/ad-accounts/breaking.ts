/**
 * Marks an account broken because its platform refuses it. Its deliveries keep waiting, and conversions still get deliveries for it, so unlike
 * other changes this one need not run between conversions.
 */
import type pg from 'pg'
import { AD_PLATFORM_LABELS, type AdPlatform } from '../../contract/ad-platforms.ts'
import { recordOwnChange } from '../../ground/history/own-changes.ts'
import { READ_MOMENT } from '../../money/billing/balance.ts'

const REFUSED = `id = $2 and state = 'active' and deleted_at is null and ($3::bytea is null or credential = $3)`

// `greatest`, because an earlier change may have read a later moment while it waited for its lock.
const BREAK = `
  update ad_accounts
  set state = 'broken', state_reason = $4, state_changed_at = $5, updated_at = greatest(updated_at, $5)
  where org_id = $1 and ${REFUSED}
  returning name`

const READ_NAME = `select platform, name from ad_accounts where org_id = $1 and ${REFUSED}`

/** Marks the account broken. `credential` is the refused one: an account that has a new one by now stays as it is. */
export async function breakAccount(
  client: pg.ClientBase,
  org_id: number,
  id: string,
  reason: string,
  credential: Buffer | undefined,
): Promise<void> {
  const object = { kind: 'ad_account', id } as const
  await recordOwnChange(client, org_id, { because: 'schedule', object, isPatient: false }, async () => {
    const [moment] = (await client.query<{ at: string }>(READ_MOMENT, [org_id])).rows
    const values = [org_id, id, credential ?? null, reason, moment?.at]
    const [broken] = (await client.query<{ name: string }>(BREAK, values)).rows
    return broken && { ...broken, before: { state: 'active' }, after: { state: 'broken' } }
  })
}

/** The name for an account in the mail to the owners; undefined if `breakAccount` would change nothing. */
export async function nameAccount(
  client: pg.ClientBase,
  org_id: number,
  id: string,
  credential: Buffer | undefined,
): Promise<string | undefined> {
  const { rows } = await client.query<{ platform: AdPlatform; name: string }>(READ_NAME, [
    org_id,
    id,
    credential ?? null,
  ])
  return rows[0] && `the ${AD_PLATFORM_LABELS[rows[0].platform]} account ${rows[0].name}`
}
