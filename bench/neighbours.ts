// Other load on this machine, because it makes the results less reliable.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 300
/** A smaller share of one core is normal on any machine. */
const QUIET = 0.15

/** A remark on the processor load of others while the bench is idle, or an empty text if there is little. */
export async function remarkOnNeighbours(): Promise<string> {
  const before = ticks()
  await sleep(LOOK_MS)
  const after = ticks()
  const busy = ((after.busy - before.busy) / (after.all - before.all)) * availableParallelism()
  return busy < QUIET
    ? ''
    : `; other processes use ${busy.toFixed(1)} of ${availableParallelism()} cores of this machine`
}

/** The time that all processors of this machine were busy, and all time. In its first line /proc/stat has user, nice, system, idle, iowait, irq, softirq, steal. */
export function ticks(): { busy: number; all: number } {
  const [, ...spent] = (readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? '').split(/\s+/).map(Number)
  const all = spent.slice(0, 8).reduce((sum, ticks) => sum + ticks, 0)
  return { busy: all - (spent[3] ?? 0) - (spent[4] ?? 0), all }
}
