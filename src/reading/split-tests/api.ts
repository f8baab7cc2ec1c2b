/** Split tests: how sure it is which variant is better. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Instant } from '../../contract/fields.ts'

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

/** What automatic weights can wait for, in the order in which it is asked. */
export const WAITS = ['not_active', 'draft', 'variants', 'conversions', 'heavy_tail', 'next_day', 'refused'] as const

/** When a test is decided, shown before it is. */
export const RULES = { expected_loss: 0.01, days: 7, conversions: 100 } as const

const TestVariant = z
  .object({
    id: z.string().meta({ description: 'The id of the landing or offer, or the node that the branch leads to' }),
    name: z.string(),
    weight: z.number(),
    visitors: z.int(),
    matured: z.int().meta({ description: 'Visitors old enough that nine of ten conversions would have come' }),
    conversions: z.int().meta({ description: 'Matured visitors with an approved conversion of the goal' }),
    rate: Estimate.meta({
      description:
        'Of conversions by matured visitor; after automatic moves of the weights standardized over the times between them',
    }),
    epv: Estimate.meta({ description: 'Earnings per matured visitor, in US dollars; standardized like the rate' }),
  })
  .meta({ id: 'SplitTestVariant' })

export const SplitTest = z
  .object({
    id: z.string(),
    of: z.enum(['landings', 'offers', 'split']),
    node: z.string().nullable().meta({ description: 'The split of a click flow' }),
    since: Instant.meta({
      description:
        'When its variants or weights last changed, other than by automatic weights; at most 90 days and 500,000 clicks ago',
    }),
    state: z.enum(['running', 'ready', 'ended']).meta({ description: 'ready: all rules are met' }),
    winner: z
      .string()
      .nullable()
      .meta({ description: 'The id of the variant to keep; null while the rules are not met' }),
    heavy_tail: z.boolean().meta({
      description: 'One visitor brought over a fifth of the revenue: no winner is named, because the mean means little',
    }),
    needs: z.object({ visitors: z.int().nullable(), days: z.int().nullable() }).meta({
      description: 'Roughly how many more visitors and days the rules need; null: unknown, because nobody comes',
    }),
    rules: z.object({
      expected_loss: z.number().meta({ description: 'As a part of the best earnings per visitor' }),
      days: z.int(),
      conversions: z.int().meta({ description: 'Of each variant' }),
    }),
    automatic: z.boolean().meta({ description: 'Sluice moves the weights to the variants that are probably best' }),
    weight_moves: z
      .object({
        last_at: Instant.nullable().meta({ description: 'When Sluice last moved the weights' }),
        waits_for: z.enum(WAITS).nullable().meta({
          description:
            'Why the weights stay for now: the flow is not active, its draft differs from the published version, more than 20 variants, under 50 matured conversions, one visitor brought over a fifth of the revenue, less than a day since the last move, or the last move was refused. null: nothing, or it is off',
        }),
      })
      .meta({ description: 'The moves of automatic weights' }),
    variants: z.array(TestVariant),
  })
  .meta({ id: 'SplitTest' })
export type SplitTest = z.output<typeof SplitTest>

const testsOf = <Route extends `GET /api/${string}/:id/tests`>(route: Route, summary: string) =>
  endpoint({
    route,
    access: { session: 'member' },
    summary,
    description:
      'Counts visitors, not clicks: each belongs to the variant of their first click. Tests, bots and left-out clicks count in no figure.',
    reply: z.object({ data: z.array(SplitTest) }),
    refuses: ['object_not_found'],
  })

export const readFunnelTests = testsOf('GET /api/funnels/:id/tests', 'Read the split tests of a funnel')
export const readClickFlowTests = testsOf('GET /api/click-flows/:id/tests', 'Read the split tests of a click flow')
