/** Recounting the books, over HTTP. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Instant } from '../../contract/fields.ts'

export const reconcileBooks = endpoint({
  route: 'GET /api/billing/reconciliation',
  access: { session: 'admin' },
  summary: 'Recount the books of the organization and list differences',
  description:
    'Compares in one snapshot the charges with the persons of events, the ledger with the balance, and the report counters with the clicks. ' +
    'Takes some seconds for each million clicks.',
  reply: z.object({
    at: Instant,
    holds: z.boolean().meta({ description: 'True: nothing differs' }),
    clicks_from: z.iso.date().nullable().meta({
      description: 'Clicks made before this day are no longer kept, so older reports are not compared with them',
    }),
    figures: z
      .array(z.object({ name: z.string(), kept: z.string(), counted: z.string() }))
      .meta({ description: 'Running figures (kept), and the same counted from the rows (counted)' }),
    findings: z
      .array(z.object({ check: z.string(), wrong: z.string() }))
      .meta({ description: 'Rows that break a rule, a few for each rule' }),
  }),
})
