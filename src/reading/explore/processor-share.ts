// How much of the processor a process got while it wanted it, from Linux's counters. Its processor time alone cannot tell that: a process that waits for a
// disk uses little of it too.
import { readdirSync, readFileSync } from 'node:fs'

/** The time that the threads of a process ran, and the time that they could have run but another process did, since their start. */
export type ProcessorUse = { readonly ran_ns: number; readonly waited_ns: number }

/** The use of the process so far. Undefined where the system does not count it. */
export function readProcessorUse(pid: number): ProcessorUse | undefined {
  let [ran_ns, waited_ns] = [0, 0]
  try {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const [ran, waited] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ').map(Number)
      ran_ns += ran ?? 0
      waited_ns += waited ?? 0
    }
  } catch {
    return undefined
  }
  return { ran_ns, waited_ns }
}

/** Whether a process waited for the processor longer than it ran between two readings, so that alone it had been more than twice as fast. */
export function wasHeldUp(before: ProcessorUse | undefined, after: ProcessorUse | undefined): boolean {
  if (before === undefined || after === undefined) return false
  return after.waited_ns - before.waited_ns > after.ran_ns - before.ran_ns
}
