// The server's memory under steady traffic.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Child, startLoad } from './children.ts'
import { ms } from './clicks.ts'
import type { Organization } from './organizations.ts'
import type { Plan } from './plan.ts'
import { median } from './ratio.ts'
import { type Finding, finding } from './rows.ts'

const CONNECTIONS = 32
/** The growth from the second quarter to the last that still counts as flat: a garbage collection or two. */
const FLAT = 1.1

export async function measureMemory(
  load: Awaited<ReturnType<typeof startLoad>>,
  server: Child,
  { campaignKeys }: Organization,
  { memorySeconds, memoryRate }: Plan,
): Promise<Finding[]> {
  const sizes: number[] = []
  const running = load.ask({
    port: server.port,
    connections: CONNECTIONS,
    seconds: memorySeconds,
    rate: memoryRate,
    recipe: { kind: 'redirects', campaignKeys },
  })
  let isOver = false
  const over = running.finally(() => {
    isOver = true
  })
  while (!isOver) {
    sizes.push(residentMb(server.pid))
    await Promise.race([sleep(1000), over])
  }
  const measured = await over
  if (measured.statuses[302] !== measured.answered)
    throw new Error(`not every click was redirected: ${JSON.stringify(measured.statuses)}`)
  const quarter = Math.ceil(sizes.length / 4)
  const early = median(sizes.slice(quarter, 2 * quarter).length > 0 ? sizes.slice(quarter, 2 * quarter) : sizes)
  const late = median(sizes.slice(-quarter))
  const isFlat = late <= early * FLAT
  return [
    finding(
      'memory_mb',
      Math.max(...sizes),
      [
        `the peak in ${memorySeconds} s of ${memoryRate} clicks/s (${Math.round(measured.per_second)} answered, p99 ${ms(measured.p99)}); after a quarter of the time ${early.toFixed(0)} MB, at the end ${late.toFixed(0)} MB`,
      ],
      { holds: isFlat, otherwise: `the memory at the end is more than ${FLAT} times that after a quarter of the time` },
    ),
  ]
}

function residentMb(pid: number): number {
  const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kb) / 1024
}
