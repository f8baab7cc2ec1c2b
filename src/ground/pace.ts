/** The pace of background work that nobody waits for. */
import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

export type Pace = {
  /**
   * Rests after a piece of work that began at `began` (performance clock, ms): as long as it took, and longer while the machine is busy, up to `most_rests` times as
   * long.
   */
  rest(began: number, signal?: AbortSignal, most_rests?: number): Promise<void>
}

/** On a fully busy machine the work still gets a fiftieth of the time, which nobody notices. */
const MOST_RESTS = 50

/** A pace that follows how much of this machine was idle since the last rest. */
export function openPace(): Pace {
  let last = timesOfMachine()
  return {
    async rest(began, signal, most_rests = MOST_RESTS) {
      const times = timesOfMachine()
      const [idle, all] = [times.idle - last.idle, times.all - last.all]
      last = times
      // 1 if half of the machine was idle, 4 if a third was, 9 if a quarter was. After short work the system's counters may not have moved.
      const rests = all > 0 ? (all / idle - 1) ** 2 : 1
      const took = performance.now() - began
      await sleep(Math.min(Math.max(rests, 1), most_rests) * took, undefined, { signal }).catch(() => {})
    },
  }
}

function timesOfMachine(): { readonly idle: number; readonly all: number } {
  const times = cpus().map(cpu => cpu.times)
  const sum = (of: readonly number[]) => of.reduce((all, one) => all + one, 0)
  return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap(Object.values)) }
}
