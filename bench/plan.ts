// The parts of the bench and their sizes.

export const PARTS = [
  'click',
  'visit',
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

/** `seconds` is the length of a window of load. Windows of the server and of its reference alternate, `rounds` times. */
export type Plan = {
  parts: ReadonlySet<Part>
  /** Clicks of the large organization, and of the explored one; the small one has a tenth. */
  clicks: number
  /** Whether each writing part has its own server, so that its unwritten pages and pending deliveries do not slow down the next. */
  apart: boolean
  /** The days of the explored clicks; each day is sealed separately. */
  exploredDays: number
  rounds: number
  seconds: number
  warmSeconds: number
  /** The length of a window of the half load, which measures latency. */
  halfSeconds: number
  /** Unused invite links: more than clicks. */
  channelLinks: number
  /** The number of organizations with conversions: many, and few. */
  many: number
  few: number
  /** Fresh clicks for each of the two, which limits the conversions that can be measured. */
  conversions: number
  /** The number of clicks before the deep page of the feed. */
  deepAfter: number
  /** Requests of one kind per round of reads. */
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
  // The fewest windows of which the interval of the sign test may leave out the lowest and the highest.
  rounds: 9,
  seconds: 1.5,
  warmSeconds: 3,
  // All windows together are longer than Linux keeps dirty pages before it writes them all at once.
  halfSeconds: 4,
  channelLinks: 250_000,
  many: 200,
  few: 3,
  conversions: 200_000,
  deepAfter: 900_000,
  readings: 8,
  memorySeconds: 60,
  memoryRate: 1000,
  starts: 6,
  broadcastSeconds: 20,
}

const LARGE = { ...DEFAULT, clicks: 10_000_000, deepAfter: 1_000_000 }
/** The parts whose results depend on the number of stored clicks. */
const LARGE_PARTS = ['report', 'feed', 'explore', 'memory', 'start'] as const satisfies Part[]

/** The plan for a million clicks, or for ten million. */
export function planFor({ large = false, only }: { large?: boolean; only?: readonly Part[] }): Plan {
  return { ...(large ? LARGE : DEFAULT), parts: new Set(only ?? (large ? LARGE_PARTS : PARTS)) }
}

/** For tests: everything is measured once, and nothing precisely. */
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
