/** The durations of sending; tests set shorter ones. */
export type SendTerms = {
  /** The lease of a bot: longer than a call to Telegram, plus time to record the outcome. */
  readonly lease_ms: number
  /** After the end of a lease, the time until rows being sent count as unknown: longer than a call that started at the end may take. */
  readonly grace_ms: number
  /** The poll for bots with something to send. */
  readonly poll_ms: number
  /** The first and the longest pause between probes. */
  readonly probe_ms: number
  readonly most_probe_ms: number
  /** Subscribers per transaction. */
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
