// What else goes on at this machine: figures taken beside it are worth less, and whoever reads them should know.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 300
/** Less than this of one core is the noise of any machine. */
const QUIET = 0.15

/** A remark on how much of the processor is taken while the bench itself rests, or nothing when it is quiet. */
export async function remarkOnNeighbours(): Promise<string> {
  const before = ticks()
  await sleep(LOOK_MS)
  const after = ticks()
  const busy = ((after.busy - before.busy) / (after.all - before.all)) * availableParallelism()
  return busy < QUIET
    ? ''
    : `; the machine is not at rest: ${busy.toFixed(1)} of ${availableParallelism()} cores are busy beforehand`
}

/** User, nice, system, idle, iowait, irq, softirq, steal: the first line of /proc/stat. */
function ticks(): { busy: number; all: number } {
  const [, ...spent] = (readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? '').split(/\s+/).map(Number)
  const all = spent.slice(0, 8).reduce((sum, ticks) => sum + ticks, 0)
  return { busy: all - (spent[3] ?? 0) - (spent[4] ?? 0), all }
}
