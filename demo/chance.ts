// Repeatable randomness: the same seed draws the same traffic on every machine.

/** A stream of draws from 0 (included) to 1 (not). */
export type Chance = () => number

/** A separate stream for each name, so that one campaign's draws never shift another's (mulberry32 over an FNV-1a hash). */
export function chanceOf(...name: (string | number)[]): Chance {
  let state = 0x811c9dc5
  for (const letter of name.join('/')) state = Math.imul(state ^ letter.charCodeAt(0), 0x01000193)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Choices with their relative frequencies. */
export type Weighted<T> = readonly (readonly [T, number])[]

export function pick<T>(chance: Chance, choices: Weighted<T>): T {
  let left = chance() * choices.reduce((sum, [, weight]) => sum + weight, 0)
  for (const [choice, weight] of choices) {
    left -= weight
    if (left < 0) return choice
  }
  return (choices[0] as readonly [T, number])[0]
}

/** About `mean`, plus or minus its square root: the number of independent arrivals. */
export function countAround(chance: Chance, mean: number): number {
  const spread = chance() + chance() + chance() + chance() - 2
  return Math.max(0, Math.round(mean + spread * Math.sqrt(mean) * 1.7))
}

/** An exponential delay with this mean. */
export function later(chance: Chance, mean_ms: number): number {
  return Math.ceil(-Math.log(1 - chance()) * mean_ms)
}

/** Random letters, as in the click ids of ad platforms. */
export function letters(
  chance: Chance,
  length: number,
  of = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-',
): string {
  let out = ''
  for (let at = 0; at < length; at += 1) out += of[Math.floor(chance() * of.length)]
  return out
}

/** A repeatable uuid, for rows other than clicks and events. */
export function drawnUuid(chance: Chance): string {
  const hex = letters(chance, 32, '0123456789abcdef')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
}
