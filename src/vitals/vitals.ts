/** Health, readiness and metrics for the operator's monitoring. Owns no table and reveals no data of organizations. */
import { collectDefaultMetrics, Gauge, register } from 'prom-client'
import sluice from '../../package.json' with { type: 'json' }
import type { Answer, Ground } from '../ground/room.ts'
import { readDegradations } from './degraded.ts'
import { refreshStored } from './stored.ts'

collectDefaultMetrics()
const labelNames = ['version', 'node']
new Gauge({ name: 'sluice_build_info', help: '1, with the versions of Sluice and of Node', labelNames }).set(
  { version: sluice.version, node: process.versions.node },
  1,
)

/** 200 whenever the process can answer. */
export function readHealth(): Answer {
  return { status: 200, body: { ok: true } }
}

/** 200 while the database answers, with the reasons if something is wrong nevertheless; otherwise 503. */
export async function readReadiness(ground: Ground): Promise<Answer> {
  try {
    const degraded = await readDegradations(ground)
    return { status: 200, body: degraded.length === 0 ? { ok: true } : { ok: true, degraded } }
  } catch {
    return { status: 503, headers: { 'retry-after': '5' }, body: { ok: false, error: 'the database does not answer' } }
  }
}

/** The metrics of the process, and those read from its database and disk, in Prometheus' text format. */
export async function readMetrics(ground: Ground): Promise<Answer> {
  await refreshStored(ground)
  return { status: 200, headers: { 'content-type': register.contentType }, body: await register.metrics() }
}
