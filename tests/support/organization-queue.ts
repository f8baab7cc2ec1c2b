// The queue of conversions without the gate, for tests that single requests cannot do: batches, races, a second process.
import { pino } from 'pino'
import { toWireId } from '../../src/contract/ids.ts'
import type { Database } from '../../src/ground/db/connect.ts'
import type { ConversionDraft } from '../../src/intake/events/api.ts'
import { type Conversions, type ConversionTerms, openConversions } from '../../src/intake/events/conversions.ts'
import type { Recorded } from '../../src/intake/events/decide.ts'
import { readConversion, type Sender } from '../../src/intake/events/intake.ts'

export type Queue = Conversions & {
  /** Sends a conversion as a server would, with an unrestricted key; `click` is a uuid. */
  send(org_id: number, click: string, body: Partial<ConversionDraft>, from?: Partial<Sender>): Promise<Recorded>
}

/** Opens another queue on the database, as another process would. */
export function openQueue(database: Database, terms: ConversionTerms = {}): Queue {
  const conversions = openConversions({ database, log: pino({ level: 'silent' }) }, terms)
  return {
    ...conversions,
    async send(org_id, click, body, from = {}) {
      const sender: Sender = {
        org_id,
        source: 'api',
        campaigns: null,
        key: undefined,
        idempotency_key: undefined,
        arrived_at: performance.now(),
        ...from,
      }
      return conversions.record(readConversion({ type: 'lead', ...body, clickId: toWireId(click) }, sender))
    },
  }
}
