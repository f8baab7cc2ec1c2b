// The status ladder of a click: clicked < landed < started < registered < lead < deposit < ftd. A click stores the highest rung it has reached
// (`status`) and one bit per rung (`stages`: bit n is rung n). The bits are needed because a report's `lead` counts only clicks that had a lead, not
// all that rose above it. Both only ever grow.

/** The rungs in order. A rung's number is its index, stored in `clicks.status`. */
export const LADDER = ['clicked', 'landed', 'started', 'registered', 'lead', 'deposit', 'ftd'] as const

const [, ...aboveFirst] = LADDER
/** The rungs above the first, which reports count. */
export const STAGES = aboveFirst

type Status = (typeof LADDER)[number]

/** The stages of a click that reached only the first rung. */
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

/** The rung that an event of this type raises its click to, or undefined for types that raise none. */
export function rungOfEvent(type: string): number | undefined {
  return rungs.get(type)
}

/** The bit of a rung in `clicks.stages`. */
export function stageOf(rung: number): number {
  return 1 << rung
}

/** The bits of `STAGES`, in the same order. */
export const REACHED: readonly number[] = STAGES.map((_, above) => stageOf(above + 1))

/** The highest rung in stages, which is the click's status. */
export function highestRung(stages: number): number {
  return stages < 1 ? 0 : Math.min(31 - Math.clz32(stages), LADDER.length - 1)
}

/** The rungs whose bits are in `stages` but not in `before`, which a change of a click adds to the report's counters. */
export function rungsGained(before: number, stages: number): Status[] {
  return LADDER.filter((_, rung) => (stages & ~before & stageOf(rung)) !== 0)
}
