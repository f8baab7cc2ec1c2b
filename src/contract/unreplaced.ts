/** Values that a traffic source sends instead of a value: macros that it did not replace. */

// Only forms that are never real values. `(direct)` and `-x-` are macros of some sources, but placements of others.
const UNREPLACED =
  /^(?:[$%]?\{.*\}|\[{1,2}[+:]?[a-z_. -]+[+:]?\]{1,2}|__[a-z0-9_]+__|#{1,3}[a-z0-9_]+(?:\([a-z0-9_]*\))?#{1,3}|@@[a-z0-9_-]+@@|\$\$[a-z0-9_]+\$\$|%[a-z_]+%|\(S_[a-z_]+\)|null|undefined)$/is

/** Macros without brackets or other marks, of Popvertising, JumpTap, TapGage and StartApp. */
const PLAIN_MACROS: ReadonlySet<string> = new Set([
  '-source-',
  '-catname-',
  'JT_ADBUNDLE',
  'JT_KEYWORD',
  'TAPGAGE_VAR_SITEID',
  'TAPGAGE_VAR_CLICKID',
  'startapp_pub_id',
  'startapp_click_id_placeholder',
  'campaign_id',
  'creative_name',
  'bid_cost',
])

/** What sources send if they have no value; the campaign link is not at fault. */
export const NOTHING: ReadonlySet<string> = new Set(['', 'null', 'undefined'])

/** Whether the value is empty or a macro that the source did not replace. */
export function isUnreplaced(value: string): boolean {
  return value === '' || UNREPLACED.test(value) || PLAIN_MACROS.has(value)
}
