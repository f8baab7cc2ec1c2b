// The status ladder of a click: clicked < landed < started < registered < lead < deposit < ftd. A click keeps the
// highest rung it has reached (`status`) and one bit per rung (`stages`: bit n is rung n), because a report's `lead` counts the clicks
// that had a lead, not all that rose above it. Both only ever grow.

/** The rungs in their order; a rung's number is its place here, as the database keeps it in `clicks.status`. */
export const LADDER = ['clicked', 'landed', 'started', 'registered', 'lead', 'deposit', 'ftd'] as const

const [, ...aboveFirst] = LADDER
/** The rungs above the first, as they are counted: each has the clicks that have reached it. */
export const STAGES = aboveFirst

/** A click's status by its word. */
type Status = (typeof LADDER)[number]

/** The stages of a click that has only been clicked. */
export const CLICKED = 1

/** The rung of landings: an event `land`, a landing's beacon, a visit to the offer link. */
export const LANDED = 1

const rungs = new Map<string, number>([
  ['land', 1],
  ['bot_start', 2],
  ['registration', 3],
  ['lead', 4],
  ['deposit', 5],
  ['ftd', 6],
])

/** The rung an event of this type raises its click to, or undefined for the types that raise nothing. */
export function rungOfEvent(type: string): number | undefined {
  return rungs.get(type)
}

/** The bit of a rung in `clicks.stages`. */
export function stageOf(rung: number): number {
  return 1 << rung
}

/** The bits of the rungs above the first, in their order: what a report counts beside the clicks. */
export const REACHED: readonly number[] = STAGES.map((_, above) => stageOf(above + 1))

/** The highest rung among stages, which is the click's status; 0 for a click that was only clicked. */
export function highestRung(stages: number): number {
  return stages < 1 ? 0 : Math.min(31 - Math.clz32(stages), LADDER.length - 1)
}

/** The rungs whose bits are in `stages` and not in `before`: what a change of a click adds to the report's counters. */
export function rungsGained(before: number, stages: number): Status[] {
  return LADDER.filter((_, rung) => (stages & ~before & stageOf(rung)) !== 0)
}
