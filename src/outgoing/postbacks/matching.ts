/**
 * Which conversions a rule calls for, said once and in two forms: for the batch that decides in memory what a conversion puts out, and for
 * statements over the past. A test runs both over the same conversions.
 */
import type { EventType } from '../../contract/event-types.ts'
import type { EventStatus } from '../../contract/revisions.ts'

/** What a rule asks of a conversion; `campaign_id` null is every campaign, and none. Of a traffic source: that of the click's campaign. */
type Asking = {
  readonly event_type: string
  readonly campaign_id: string | null
  readonly traffic_source_id: string | null
}

/** Whether the rule calls for the conversion of that click, given that anything is told of it. */
export function isCalledFor(
  rule: Asking,
  event: { readonly type: EventType; readonly campaign_id: string | null },
  click: { readonly traffic_source_id: string | null },
): boolean {
  if (rule.event_type !== event.type) return false
  if (rule.traffic_source_id !== null) return rule.traffic_source_id === click.traffic_source_id
  return rule.campaign_id === null || rule.campaign_id === event.campaign_id
}

/** The same of a rule `r` and an event `e` of the organization `$1`; of a rule of a source by the one that its campaign has now. Only for rules on `recorded`. */
export const IS_CALLED_FOR = `r.told_on is null and r.event_type = e.type and case
    when r.traffic_source_id is null then r.campaign_id is null or r.campaign_id = e.campaign_id
    else exists (
      select from campaigns s where s.org_id = $1 and s.id = e.campaign_id and s.traffic_source_id = r.traffic_source_id)
  end`

/** Whether a rule that calls on `told_on` (null: when it is recorded) calls for a conversion that is recorded, held at once or not. */
export function isOnRecorded(told_on: string | null, isHeld: boolean): boolean {
  return told_on === null || (told_on === 'approved' && !isHeld)
}

/** Whether it calls for a revision that says so. */
export function isOnRevision(told_on: string | null, status: EventStatus): boolean {
  return told_on === 'any_change' || told_on === status
}
