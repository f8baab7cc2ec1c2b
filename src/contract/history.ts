/** The history of changes: the kinds of objects in it, and what a writing endpoint declares about it. */

/** Kinds of objects whose changes the history records. */
export const HISTORY_KINDS = [
  'campaign',
  'left_out',
  'offer',
  'landing',
  'funnel',
  'click_flow',
  'traffic_source',
  'postback',
  'network',
  'cap',
  'domain',
  'bot',
  'channel',
  'subscriber',
  'broadcast',
  'ad_account',
  'spend_account',
  'ad_spend',
  'spread',
  'rate',
  'event',
  'event_settings',
  'view',
  'organization',
  'member',
  'invitation',
  'api_key',
  'billing',
  'tag',
  'note',
  'split_test',
  'receiver',
  'rule',
  'alert_settings',
] as const
export type HistoryKind = (typeof HISTORY_KINDS)[number]

/**
 * The kind of the object that a writing endpoint changes, or why none of its writes are in the history. A kind alone: the whole deed runs in one
 * transaction, which the gate begins and records. `in`: the deed records it in a transaction of its own, because it also waits for other servers
 * or for the queue of conversions, and no transaction may wait for these.
 */
export type HistoryDeclaration = HistoryKind | { readonly in: HistoryKind } | { readonly none: string }

/** The kind in a declaration. Undefined for none. */
export function historyKindOf(declared: HistoryDeclaration | undefined): HistoryKind | undefined {
  if (declared === undefined || typeof declared === 'string') return declared
  return 'in' in declared ? declared.in : undefined
}
