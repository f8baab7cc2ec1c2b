/**
 * How fast one bot sends: evenly at the speed that is set, slower where Telegram has asked for silence, and never more in any second than Telegram
 * takes. Known to the process that sends alone. Times are of the performance clock, in ms.
 */
const SECOND_MS = 1000
/** What was lost to a slow database may be caught up with, this much of it. */
const BEHIND_MS = 250
/** After each 429. */
const SLOWER = 0.8
/** After each ten seconds without one. */
const FASTER = 1.02
const QUIET_MS = 10_000
const SLOWEST = 0.05

/** `rate`: messages a second that are wanted; `most`: those Telegram takes in any second. */
export type Speed = { readonly rate: number; readonly most: number }

export type Pace = {
  /** How long a group of so many has to wait, to begin at `now` or later. */
  wait(count: number, speed: Speed, now: number): number
  /** A group of so many begins. */
  begin(count: number, speed: Speed, now: number): void
  /** One of them was answered, or given up. */
  answered(now: number): void
  /** Telegram has asked for silence. */
  slow(now: number): void
  /** What the wanted speed is multiplied by. */
  factor(now: number): number
}

export function openPace(): Pace {
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
      // Whatever reached Telegram within a second before now was answered later than a second before now.
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
