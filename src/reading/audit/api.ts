/** Counting the books again, over HTTP. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Instant } from '../../contract/fields.ts'

export const reconcileBooks = endpoint({
  route: 'GET /api/billing/reconciliation',
  access: { session: 'admin' },
  summary: 'Count the books of the organization again and say where they differ',
  description:
    'Reads one moment of everything the organization has: charges against the persons of its events, the ledger against the balance, the ' +
    'report counters against the clicks. Takes some seconds for each million clicks.',
  reply: z.object({
    at: Instant,
    holds: z.boolean().meta({ description: 'True: nothing differs' }),
    clicks_from: z.iso.date().nullable().meta({
      description: 'Clicks made before this day are no longer kept: reports of that time are not held against them',
    }),
    figures: z
      .array(z.object({ name: z.string(), kept: z.string(), counted: z.string() }))
      .meta({ description: 'What is kept as a running figure, and the same counted anew' }),
    findings: z
      .array(z.object({ check: z.string(), wrong: z.string() }))
      .meta({ description: 'Rows that break a rule, a few of each' }),
  }),
})
