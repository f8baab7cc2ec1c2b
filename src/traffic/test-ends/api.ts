/** The end of split tests, over HTTP. Sessions only: no right of keys covers these routes. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Id, Instant } from '../../contract/fields.ts'

const ended = <Winner extends z.ZodType>(winner: Winner) =>
  z.object({
    test_id: z.string(),
    winner: winner.nullable(),
    ended_at: Instant.nullable().meta({ description: 'Visitors who come from then on get the winner' }),
  })

const DESCRIPTION =
  'New visitors get the winner, while it takes traffic; every other visitor keeps their variant. Without a winner (null) the test goes on.'

export const endFunnelTest = endpoint({
  route: 'POST /api/funnels/:id/tests/end',
  access: { session: 'admin' },
  history: { in: 'split_test' },
  summary: 'End a split test of a funnel, and keep the winner',
  description: DESCRIPTION,
  body: z.strictObject({
    test_id: z.enum(['landings', 'offers']),
    winner: Id.nullable().meta({ description: 'A landing or offer of the funnel' }),
  }),
  reply: ended(Id).meta({ id: 'EndedFunnelTest' }),
  status: 200,
  refuses: ['object_not_found', 'invalid_request'],
})

export const endClickFlowTest = endpoint({
  route: 'POST /api/click-flows/:id/tests/end',
  access: { session: 'admin' },
  history: { in: 'split_test' },
  summary: 'End a split test of a click flow, and keep the winner',
  description: DESCRIPTION,
  body: z.strictObject({
    test_id: z.string().max(32).meta({ description: 'The split of the published version' }),
    winner: z.string().max(32).nullable().meta({ description: 'The node that the branch to keep leads to' }),
  }),
  reply: ended(z.string()).meta({ id: 'EndedClickFlowTest' }),
  status: 200,
  refuses: ['object_not_found', 'invalid_request'],
})
