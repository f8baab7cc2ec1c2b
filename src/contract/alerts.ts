/** What Sluice tells receivers about: the kinds of alerts, and the phases of an episode. */

/** The kinds of alerts. All but `rule` need no rule. */
export const ALERT_KINDS = [
  'rule',
  'conversions_fall',
  'clicks_fall',
  'delivery_failing',
  'ad_account_failing',
  'domain_flagged',
  'certificate_due',
  'cap_reached',
  'macros_unfilled',
  'balance_low',
  'books_wrong',
] as const
export type AlertKind = (typeof ALERT_KINDS)[number]

/** `begins`: the first message of an episode. `grows`: it is worse by half than when it was last told. `over`: it has ended. `asks`: a rule waits for a person. */
export type AlertPhase = 'begins' | 'grows' | 'over' | 'asks'

/**
 * A part of the explanation of a fall: clicks with this value are missing, and `share` of the fall (0 to 1) is theirs. Of the dimension `change`: `value` is a
 * row of the history, and `share` of the fall came after it.
 */
export type AlertCause = {
  readonly dimension: string
  readonly value: string | null
  readonly label: string
  readonly share: number
}

/** The body of a message about an episode, in the form of the API. Ids are wire ids. */
export type AlertBody = {
  readonly type: AlertKind | 'test'
  readonly phase: AlertPhase
  readonly episode: string | null
  readonly object: { readonly kind: string; readonly id: string | null; readonly name: string | null } | null
  readonly rule: { readonly id: string; readonly name: string } | null
  readonly text: string
  readonly figures: Readonly<Record<string, unknown>>
  readonly causes: readonly AlertCause[]
  readonly at: string
  /** The page in the dashboard; a path until the message is sent. */
  readonly url: string
}

/** The body of a message that collects others. */
export type DigestBody = Omit<AlertBody, 'type' | 'phase'> & {
  readonly type: 'digest'
  readonly phase: 'digest'
  readonly items: readonly AlertBody[]
}

/** The body of any message. */
export type MessageBody = AlertBody | DigestBody

/** The kinds in words. */
export const ALERT_WORDS: Readonly<Record<AlertKind, string>> = {
  rule: 'Rule',
  conversions_fall: 'Conversions fall',
  clicks_fall: 'Clicks fall',
  delivery_failing: 'Deliveries fail',
  ad_account_failing: 'Ad account fails',
  domain_flagged: 'Domain flagged',
  certificate_due: 'Certificate due',
  cap_reached: 'Cap reached',
  macros_unfilled: 'Macros unfilled',
  balance_low: 'Balance low',
  books_wrong: 'Books wrong',
}
