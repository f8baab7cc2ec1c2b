/** How long things take in sending; tests set shorter ones. */
export type SendTerms = {
  /** How long a process has a bot without a word. Longer than a call of Telegram may take, with time to write it down. */
  readonly lease_ms: number
  /** Behind the end of a lease, until what was on its way counts as unknown: as long as a call that began at its end may take, and more. */
  readonly grace_ms: number
  /** Between two looks for bots that have something to send. */
  readonly poll_ms: number
  /** Until Telegram is asked again whether it is back, the first time and at most. */
  readonly probe_ms: number
  readonly most_probe_ms: number
  /** Subscribers that are looked at in one transaction. */
  readonly portion: number
}

export const TERMS: SendTerms = {
  lease_ms: 15_000,
  grace_ms: 15_000,
  poll_ms: 1000,
  probe_ms: 5000,
  most_probe_ms: 300_000,
  portion: 10_000,
}
