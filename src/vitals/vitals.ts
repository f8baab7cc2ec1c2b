/** Vitals: what an operator's monitoring asks. Owns no table and tells nothing of any organization. */
import { sql } from 'kysely'
import { collectDefaultMetrics, register } from 'prom-client'
import type { Answer, Ground } from '../ground/room.ts'

collectDefaultMetrics()

/** The process answers. */
export function readHealth(): Answer {
  return { status: 200, body: { ok: true } }
}

/** 200 while the database answers, else 503. */
export async function readReadiness({ db }: Ground): Promise<Answer> {
  try {
    await sql`select 1`.execute(db)
    return { status: 200, body: { ok: true } }
  } catch {
    return { status: 503, headers: { 'retry-after': '5' }, body: { ok: false, error: 'the database does not answer' } }
  }
}

/** The process's metrics in Prometheus' text form. */
export async function readMetrics(): Promise<Answer> {
  return { status: 200, headers: { 'content-type': register.contentType }, body: await register.metrics() }
}
