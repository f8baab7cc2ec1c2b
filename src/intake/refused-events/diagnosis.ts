/** Why a request was refused, from what was sent: pure, so that it costs a flood of garbage next to nothing. */

import { DAY_MS } from '../../contract/days.ts'
import type { Diagnosis } from '../../contract/diagnoses.ts'
import { timeOfId, toUuid, toWireId } from '../../contract/ids.ts'
import { fieldsOf } from '../../contract/json.ts'
import type { RefusalName } from '../../contract/refusal-catalogue.ts'
import { Refusal } from '../../contract/refusals.ts'
import { clickOfStart } from '../../contract/telegram.ts'
import { organizationOfClick } from '../clicks/click-id.ts'
import { isUnreplaced } from '../clicks/parameters.ts'
import { ConversionDraft } from '../events/api.ts'

/** A refusal that knows its diagnosis. */
export class Diagnosed extends Refusal {
  readonly diagnosis: Diagnosis
  constructor(diagnosis: Diagnosis, error: string) {
    super('invalid_request', { error })
    this.diagnosis = diagnosis
  }
}

/** Whether it is a placeholder that nobody filled in. */
export function isMacro(text: string): boolean {
  return text !== '' && (isUnreplaced(text) || /^#\w+#$|^<\w+>$/.test(text))
}

/** The click id in what a request names its click by, which of a start may be the whole parameter; what holds none stays as it is. */
export function clickTextOf(type: unknown, sent: string): string {
  const click_id = type === 'bot_start' ? clickOfStart(sent.trim()) : undefined
  return click_id === undefined ? sent : toWireId(click_id)
}

/** What is wrong with a click id, or whose number it carries: then the organizations have to be asked. */
type ClickFinding = { diagnosis: Diagnosis } | { org_id: number }

const ID_LENGTH = 26
/** Nobody's clock is so far ahead. */
const AHEAD_MS = DAY_MS

/** Reads a click id that was not found, without a look at anyone's rows. */
export function lookAtClickId(text: string, org_id: number, clickKey: Uint8Array): ClickFinding {
  if (text.trim() === '') return { diagnosis: 'click_id_missing' }
  if (isMacro(text.trim())) return { diagnosis: 'macro_not_replaced' }
  const uuid = toUuid(text)
  if (uuid === undefined) return { diagnosis: isBeginning(text) ? 'click_id_truncated' : 'click_id_malformed' }
  const owner = timeOfId(uuid) > Date.now() + AHEAD_MS ? undefined : organizationOfClick(clickKey, uuid)
  if (owner === org_id) return { diagnosis: 'click_not_stored' }
  return owner === undefined ? { diagnosis: 'click_unknown' } : { org_id: owner }
}

/** The beginning of an id of these years, in either of its forms. */
function isBeginning(text: string): boolean {
  const hex = /^[0-9a-f]{8}-[0-9a-f-]{0,26}$/i
  return text.length >= 6 && ((text.length < ID_LENGTH && /^0[1-3][0-9a-hjkmnp-tv-z]*$/i.test(text)) || hex.test(text))
}

const BY_REFUSAL: Partial<Record<RefusalName, Diagnosis>> = {
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

/** The diagnosis of a refusal of this body; `'click'` where its click id has to be looked at. */
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
  // The schema has nothing against it: then it was the payload's person, or text that cannot be stored.
  if (error === undefined) {
    const hasPerson = fieldsOf(fieldsOf(body)['payload'])['telegram_user_id'] !== undefined
    return hasPerson ? 'telegram_user_id_invalid' : 'body_invalid'
  }
  const field = String(error.issues[0]?.path[0] ?? '')
  const sent = fieldsOf(body)[field]
  return typeof sent === 'string' && isMacro(sent) ? 'macro_not_replaced' : (BY_FIELD[field] ?? 'body_invalid')
}
