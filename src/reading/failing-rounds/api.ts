/** The endpoint for rounds that keep failing. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Instant } from '../../contract/fields.ts'

export const listFailingRounds = endpoint({
  route: 'GET /api/failing-rounds',
  access: { session: 'admin' },
  summary: 'List background work that keeps failing',
  description:
    'Work that Sluice does by itself, such as sending deliveries, in any of its processes, while it has failed three times in a row or more. Empty while ' +
    'all goes well, and for every workspace but the one that Sluice was set up with. Why it fails is in the log.',
  reply: z.object({
    data: z.array(
      z.object({
        round: z.string().meta({ description: 'What fails: the part of Sluice', examples: ['deliveries/postback'] }),
        failing_since: Instant,
      }),
    ),
  }),
})
