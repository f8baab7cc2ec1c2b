/** Explore as the browser asks it. */
import { z } from 'zod'
import { endpoint } from '../../../contract/endpoint.ts'
import { EXPLORE_DIMENSIONS, ExploreAnswer, ExploreQuestion, ExploreValues } from '../../../contract/explore.ts'

export const askExplore = endpoint({
  route: 'POST /api/explore',
  access: { session: 'member' },
  summary: 'Answers a question',
  body: ExploreQuestion,
  reply: ExploreAnswer,
})

export const listExploreValues = endpoint({
  route: 'GET /api/explore/values',
  access: { session: 'member' },
  summary: 'Values',
  query: z.object({
    dimension: z.enum(EXPLORE_DIMENSIONS),
    search: z.string().optional(),
    date_from: z.string().optional(),
    date_to: z.string().optional(),
  }),
  reply: ExploreValues,
})
