/** Finds out why a request was refused, from the request alone: pure, so that a flood of invalid requests costs almost nothing. */

import { DAY_MS } from '../../contract/days.ts'
import type { Diagnosis } from '../../contract/diagnoses.ts'
import { timeOfId, toUuid, toWireId } from '../../contract/ids.ts'
import { fieldsOf } from '../../contract/json.ts'
import type { RefusalName } from '../../contract/refusal-catalogue.ts'
import { Refusal } from '../../contract/refusals.ts'
import { clickOfStart } from '../../contract/telegram.ts'
import { organizationOfClick } from '../clicks/click-id.ts'
import { isUnreplaced } from '../../contract/unreplaced.ts'
import { ConversionDraft } from '../events/api.ts'

/** A refusal with its diagnosis. */
export class Diagnosed extends Refusal {
  readonly diagnosis: Diagnosis
  constructor(diagnosis: Diagnosis, error: string) {
    super('invalid_request', { error })
    this.diagnosis = diagnosis
  }
}

/** Whether it is a macro that was not replaced. */
export function isMacro(text: string): boolean {
  return text !== '' && (isUnreplaced(text) || /^#\w+#$|^<\w+>$/.test(text))
}

/** The click id as sent. For a start that sent the bot's whole start parameter, the click id in it; without one, the text itself. */
export function clickTextOf(type: unknown, sent: string): string {
  const click_id = type === 'bot_start' ? clickOfStart(sent.trim()) : undefined
  return click_id === undefined ? sent : toWireId(click_id)
}

/** What is wrong with a click id, or the number of another organization in it, which must then be looked up. */
type ClickFinding = { diagnosis: Diagnosis } | { org_id: number }

const ID_LENGTH = 26
/** No clock is further ahead than this. */
const AHEAD_MS = DAY_MS

/** Diagnoses a click id that was not found, without reading rows of other organizations. */
export function diagnoseClickId(text: string, org_id: number, clickKey: Uint8Array): ClickFinding {
  if (text.trim() === '') return { diagnosis: 'click_id_missing' }
  if (isMacro(text.trim())) return { diagnosis: 'macro_not_replaced' }
  const uuid = toUuid(text)
  if (uuid === undefined) return { diagnosis: isBeginning(text) ? 'click_id_truncated' : 'click_id_malformed' }
  const owner = timeOfId(uuid) > Date.now() + AHEAD_MS ? undefined : organizationOfClick(clickKey, uuid)
  if (owner === org_id) return { diagnosis: 'click_not_stored' }
  return owner === undefined ? { diagnosis: 'click_unknown' } : { org_id: owner }
}

/** Whether it is the beginning of an id of these years, in either form. */
function isBeginning(text: string): boolean {
  const hex = /^[0-9a-f]{8}-[0-9a-f-]{0,26}$/i
  return text.length >= 6 && ((text.length < ID_LENGTH && /^0[1-3][0-9a-hjkmnp-tv-z]*$/i.test(text)) || hex.test(text))
}

const BY_REFUSAL: Partial<Record<RefusalName, Diagnosis>> = {
  site_not_listed: 'site_not_listed',
  page_server_unknown: 'page_server_unknown',
  bot_not_found: 'bot_unknown',
  conversion_unknown: 'conversion_unknown',
  conversion_ambiguous: 'conversion_ambiguous',
  not_yours: 'not_yours',
  too_many_revisions: 'too_many_revisions',
  click_not_kept: 'click_not_kept',
  bot_start_missing_telegram_user_id: 'telegram_user_id_missing',
  campaign_scope_forbidden: 'outside_campaigns',
  api_key_write_not_granted: 'right_missing',
  api_key_grant_unverifiable: 'key_unusable',
  api_key_org_not_member: 'key_unusable',
  role_forbidden: 'key_unusable',
  invalid_json: 'body_unreadable',
  rate_unknown: 'rate_unknown',
  amount_too_large: 'payout_invalid',
}

/** The diagnosis of a refusal of this body; `'click'` if `diagnoseClickId` must decide. */
export function diagnose(refusal: Refusal, body: unknown): Diagnosis | 'click' {
  if (refusal instanceof Diagnosed) return refusal.diagnosis
  if (refusal.refusal === 'click_not_found') return 'click'
  return BY_REFUSAL[refusal.refusal] ?? diagnoseDraft(body)
}

const BY_FIELD: Record<string, Diagnosis> = {
  clickId: 'click_id_missing',
  type: 'type_unknown',
  payout: 'payout_invalid',
  nonce: 'nonce_invalid',
}

function diagnoseDraft(body: unknown): Diagnosis {
  const { error } = ConversionDraft.safeParse(body)
  // The body is valid by the schema, so the payload's person or a text that cannot be stored was refused.
  if (error === undefined) {
    const hasPerson = fieldsOf(fieldsOf(body)['payload'])['telegram_user_id'] !== undefined
    return hasPerson ? 'telegram_user_id_invalid' : 'body_invalid'
  }
  const field = String(error.issues[0]?.path[0] ?? '')
  const sent = fieldsOf(body)[field]
  return typeof sent === 'string' && isMacro(sent) ? 'macro_not_replaced' : (BY_FIELD[field] ?? 'body_invalid')
}
