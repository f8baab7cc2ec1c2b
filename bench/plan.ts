// How much is measured, and with what.

export const PARTS = [
  'click',
  'conversion',
  'report',
  'feed',
  'explore',
  'mcp',
  'memory',
  'start',
  'broadcast',
] as const
export type Part = (typeof PARTS)[number]

/** `seconds` is the length of one round of load; rounds of the measured and of its yardstick take turns. */
export type Plan = {
  parts: ReadonlySet<Part>
  /** Clicks of the large organization, and of the one that is explored; the small one has a tenth. */
  clicks: number
  /** Whether parts that write have a server each: what is written in one, or left undelivered, is not to weigh on the next. */
  apart: boolean
  /** Over so many days the explored ones are spread; each is sealed by itself. */
  exploredDays: number
  rounds: number
  seconds: number
  warmSeconds: number
  /** Of the half load, by whose slowest clicks it is measured. */
  halfSeconds: number
  /** Invite links that wait for clicks: more than come. */
  channelLinks: number
  /** Organizations that conversions come for: many, and few. */
  many: number
  few: number
  /** Fresh clicks for each of the two: the most conversions that can be measured. */
  conversions: number
  /** How many clicks before the end of the feed the deep page lies. */
  deepAfter: number
  /** Requests of one kind in a round of readings. */
  readings: number
  memorySeconds: number
  memoryRate: number
  starts: number
  broadcastSeconds: number
  profileDir?: string
}

const DEFAULT: Omit<Plan, 'parts'> = {
  clicks: 1_000_000,
  apart: true,
  exploredDays: 90,
  rounds: 5,
  seconds: 4,
  warmSeconds: 3,
  // As long as Linux lets written pages lie before it writes them all out at once: a shorter look meets that moment or misses it.
  halfSeconds: 30,
  channelLinks: 250_000,
  many: 200,
  few: 3,
  conversions: 200_000,
  deepAfter: 900_000,
  readings: 20,
  memorySeconds: 60,
  memoryRate: 1000,
  starts: 3,
  broadcastSeconds: 20,
}

const LARGE = { ...DEFAULT, clicks: 10_000_000, deepAfter: 1_000_000, memorySeconds: 300 }

/** The plan for a million clicks and five minutes, or for ten million. */
export function planFor({ large = false, only }: { large?: boolean; only?: readonly Part[] }): Plan {
  return { ...(large ? LARGE : DEFAULT), parts: new Set(only ?? PARTS) }
}

/** For tests: everything is measured once, and nothing well. */
export const TINY: Plan = {
  parts: new Set(PARTS),
  clicks: 2000,
  apart: false,
  exploredDays: 3,
  rounds: 1,
  seconds: 0.2,
  warmSeconds: 0.05,
  halfSeconds: 0.4,
  channelLinks: 3000,
  many: 4,
  few: 1,
  conversions: 3000,
  deepAfter: 1000,
  readings: 2,
  memorySeconds: 1,
  memoryRate: 100,
  starts: 1,
  broadcastSeconds: 1,
}
