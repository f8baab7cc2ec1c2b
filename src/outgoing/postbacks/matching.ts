/**
 * Which conversions a rule calls for, said once and in two forms: for the batch that decides in memory what a conversion puts out, and for
 * statements over the past. A test runs both over the same conversions.
 */
import type { EventType } from '../../contract/event-types.ts'

/** What a rule asks of a conversion; `campaign_id` null is every campaign, and none. */
type Asking = { readonly event_type: string; readonly campaign_id: string | null }

/** Whether the rule calls for the conversion, given that anything is told of its click. */
export function isCalledFor(
  rule: Asking,
  event: { readonly type: EventType; readonly campaign_id: string | null },
): boolean {
  return rule.event_type === event.type && (rule.campaign_id === null || rule.campaign_id === event.campaign_id)
}

/** The same of a rule `r` and an event `e`. */
export const IS_CALLED_FOR = 'r.event_type = e.type and (r.campaign_id is null or r.campaign_id = e.campaign_id)'
