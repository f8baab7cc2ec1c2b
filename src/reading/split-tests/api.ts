/** Split tests: how sure it is which variant is better. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'

/** The closed forms take time in proportion to the conversions. */
const MOST_VISITORS = 10_000_000

const Variant = z
  .object({
    visitors: z.int().min(0).max(MOST_VISITORS),
    conversions: z.int().min(0).max(MOST_VISITORS).meta({ description: 'Visitors who converted' }),
  })
  .refine(({ visitors, conversions }) => conversions <= visitors, {
    path: ['conversions'],
    message: 'must not be more than visitors',
  })

const Estimate = z
  .object({
    mean: z.number(),
    from: z.number().meta({ description: 'With to: the range that holds the true value with 90 % probability' }),
    to: z.number(),
    best: z.number().meta({ description: 'The probability that this variant is the best, 0 to 1' }),
    loss: z.number().meta({
      description: 'The expected loss of keeping this variant: by how much the best variant is better, on average',
    }),
  })
  .meta({ id: 'SplitTestEstimate' })

export const computeSplitTest = endpoint({
  route: 'POST /api/split-tests/figures',
  access: { session: 'member' },
  reads: true,
  summary: 'Compute the figures of a split test',
  description:
    'Compares conversion rates, as parts of 1. Two variants are computed by closed forms, more by 20,000 draws with a fixed seed, so the same variants always have the same figures.',
  body: z.object({ variants: z.array(Variant).min(2).max(10) }),
  reply: z.object({ variants: z.array(Estimate) }),
})
