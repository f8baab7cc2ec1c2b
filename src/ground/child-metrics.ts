/** The metrics of this process's child processes: their memory, how often they started, and how often they ended by themselves. */
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Counter, Gauge } from 'prom-client'

/** `scanning` answers questions of Explore, `sealing` keeps its segments, `backup` takes a backup for the dashboard. */
const NAMES = ['scanning', 'sealing', 'backup'] as const
type ChildName = (typeof NAMES)[number]

const labelNames = ['process']
const starts = new Counter({
  name: 'sluice_child_process_starts_total',
  help: 'Starts of child processes, by process: scanning, sealing, backup',
  labelNames,
})
const crashes = new Counter({
  name: 'sluice_child_process_crashes_total',
  help: 'Ends of child processes that this process did not cause, by process',
  labelNames,
})
for (const process of NAMES) {
  starts.inc({ process }, 0)
  crashes.inc({ process }, 0)
}

const running = new Map<ChildProcess, ChildName>()

new Gauge({
  name: 'sluice_child_process_resident_memory_bytes',
  help: 'Resident memory of running child processes, by process; only on Linux',
  labelNames,
  collect() {
    this.reset()
    for (const [{ pid }, process] of running) this.inc({ process }, memoryOf(pid) ?? 0)
  },
})

/** Undefined if the process has just ended, and on systems other than Linux. */
function memoryOf(pid: number | undefined): number | undefined {
  try {
    const [, kilobytes] = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
  } catch {
    return undefined
  }
}

/** Measures a child process that has just been started. */
export function measureChild(process: ChildName, child: ChildProcess): void {
  starts.inc({ process })
  running.set(child, process)
  child.once('exit', () => running.delete(child))
}

/** Counts an end that this process did not cause. */
export const countCrash = (process: ChildName): void => crashes.inc({ process })
