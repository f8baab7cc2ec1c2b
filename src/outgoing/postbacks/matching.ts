/**
 * Which conversions a rule calls for, in two forms: for intake, which decides in memory, and as SQL for runs over the past. A test checks that both
 * agree.
 */
import type { EventType } from '../../contract/event-types.ts'
import type { EventStatus } from '../../contract/revisions.ts'

/** A rule's conditions. A null `campaign_id` matches every campaign, and no campaign. The traffic source is that of the click's campaign. */
type RuleConditions = {
  readonly event_type: string
  readonly campaign_id: string | null
  readonly traffic_source_id: string | null
}

/** Whether the rule calls for the conversion of that click, if that conversion is to be reported at all. */
export function isCalledFor(
  rule: RuleConditions,
  event: { readonly type: EventType; readonly campaign_id: string | null },
  click: { readonly traffic_source_id: string | null },
): boolean {
  if (rule.event_type !== event.type) return false
  if (rule.traffic_source_id !== null) return rule.traffic_source_id === click.traffic_source_id
  return rule.campaign_id === null || rule.campaign_id === event.campaign_id
}

/** The same in SQL for a rule `r` and an event `e` of the organization `$1`, with the traffic source that the campaign has now. Only for rules on `recorded`. */
export const IS_CALLED_FOR = `r.told_on is null and r.event_type = e.type and case
    when r.traffic_source_id is null then r.campaign_id is null or r.campaign_id = e.campaign_id
    else exists (
      select from campaigns s where s.org_id = $1 and s.id = e.campaign_id and s.traffic_source_id = r.traffic_source_id)
  end`

/** Whether a rule with this `told_on` (null means `recorded`) calls for a conversion when it is recorded. */
export function isOnRecorded(told_on: string | null, isHeld: boolean): boolean {
  return told_on === null || (told_on === 'approved' && !isHeld)
}

/** Whether a rule with this `told_on` calls for a revision to this status. */
export function isOnRevision(told_on: string | null, status: EventStatus): boolean {
  return told_on === 'any_change' || told_on === status
}
