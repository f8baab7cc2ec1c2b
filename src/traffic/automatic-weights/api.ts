/** The switch of automatic weights, over HTTP. Sessions only: no right of keys covers these routes. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'

const AutomaticTest = z
  .object({
    test_id: z.string(),
    automatic: z.boolean().meta({ description: 'Sluice moves the weights to the variants that are probably best' }),
  })
  .meta({ id: 'AutomaticTest' })

const DESCRIPTION =
  'While it is on, Sluice moves the weights by itself, at most once a day and once the test has 50 matured conversions. Each variant keeps at least 5 % of the visitors. An ended test cannot be switched on.'

const automatic = z.boolean().meta({ description: 'false: the weights stay as they are' })

export const setFunnelTestAutomatic = endpoint({
  route: 'PUT /api/funnels/:id/tests/automatic',
  access: { session: 'admin' },
  history: { in: 'split_test' },
  summary: 'Switch the automatic weights of a split test of a funnel on or off',
  description: DESCRIPTION,
  body: z.strictObject({ test_id: z.enum(['landings', 'offers']), automatic }),
  reply: AutomaticTest,
  refuses: ['object_not_found', 'invalid_request'],
})

export const setClickFlowTestAutomatic = endpoint({
  route: 'PUT /api/click-flows/:id/tests/automatic',
  access: { session: 'admin' },
  history: { in: 'split_test' },
  summary: 'Switch the automatic weights of a split test of a click flow on or off',
  description: `${DESCRIPTION} A move publishes the next version, and waits while the draft differs from the published version.`,
  body: z.strictObject({
    test_id: z.string().max(32).meta({ description: 'The split of the published version' }),
    automatic,
  }),
  reply: AutomaticTest,
  refuses: ['object_not_found', 'invalid_request'],
})
