/**
 * The pace of one bot: evenly at the set speed, slower after rate limits, and never more in any second than Telegram allows. Only the sending process
 * knows it. Times are of the performance clock, in ms.
 */
const SECOND_MS = 1000
/** Time lost to a slow database may be caught up, up to this much. */
const BEHIND_MS = 250
/** The factor after each 429. */
const SLOWER = 0.8
/** The factor after each ten seconds without a 429. */
const FASTER = 1.02
const QUIET_MS = 10_000
const SLOWEST = 0.05

/** `rate`: the wanted messages per second; `most`: Telegram's limit in any second. */
export type Speed = { readonly rate: number; readonly most: number }

export type SendingPace = {
  /** How long a group of `count` messages must wait from `now`. */
  wait(count: number, speed: Speed, now: number): number
  /** A group of `count` messages starts. */
  begin(count: number, speed: Speed, now: number): void
  /** One message was answered or timed out. */
  answered(now: number): void
  /** Telegram has rate limited the bot. */
  slow(now: number): void
  /** The current factor of the wanted speed. */
  factor(now: number): number
}

export function openSendingPace(): SendingPace {
  let next = Number.NEGATIVE_INFINITY
  let answers: number[] = []
  let slowed = 1
  let since = 0
  const factor = (now: number) => {
    while (slowed < 1 && now - since >= QUIET_MS) {
      slowed = Math.min(1, slowed * FASTER)
      since += QUIET_MS
    }
    return slowed
  }
  return {
    factor,
    wait(count, { most }, now) {
      // A message that reached Telegram within the last second was also answered within the last second.
      answers = answers.filter(at => at > now - SECOND_MS)
      const excess = answers.length + count - most
      const freed = excess <= 0 ? now : (answers[Math.min(excess, answers.length) - 1] ?? now) + SECOND_MS
      return Math.max(0, next - now, freed - now)
    },
    begin(count, { rate }, now) {
      next = Math.max(next, now - BEHIND_MS) + (count * SECOND_MS) / (rate * factor(now))
    },
    answered: now => void answers.push(now),
    slow(now) {
      slowed = Math.max(SLOWEST, factor(now) * SLOWER)
      since = now
    },
  }
}
