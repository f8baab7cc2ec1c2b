// Judges a split test from its counts: the figures of each variant, whether the test is decided, and what it still needs. Pure.
import { DAY_MS } from '../../contract/days.ts'
import { RULES, type SplitTest } from './api.ts'
import { compareByDraws, drawBeta, drawGamma } from './draws.ts'
import { estimateRates } from './split-tests.ts'
import { comparedCounts, type CountedVariant, plainCounts } from './strata.ts'

type Variant = SplitTest['variants'][number]
type Named = Pick<Variant, 'id' | 'name' | 'weight'>

/** If one visitor brings a larger part of the revenue, its mean says little. */
const HEAVY = 0.2
/** A need beyond this is of no use to anybody. */
const MOST_NEEDED = 10_000_000

/** The shape of the gamma distribution of the mean payout, from how much payouts differ; undefined if all are the same. */
function shapeOf({ conversions, revenue, squares }: CountedVariant): number | undefined {
  const mean = revenue / conversions
  const variance = squares / conversions - mean ** 2
  return variance <= 1e-9 * mean ** 2 ? undefined : Math.max(1, (conversions * mean ** 2) / variance)
}

/** The earnings per visitor: the conversion rate times the mean payout, both drawn. */
function estimateEarnings(variants: readonly CountedVariant[]) {
  const drawn = compareByDraws(
    variants.map(counted => {
      const { matured, conversions, revenue } = counted
      const beta = { a: conversions + 1, b: matured - conversions + 1 }
      const shape = conversions === 0 ? undefined : shapeOf(counted)
      const payout = conversions === 0 ? 0 : revenue / conversions
      return random => drawBeta(random, beta) * payout * (shape === undefined ? 1 : drawGamma(random, shape) / shape)
    }),
  )
  return variants.map(({ matured, conversions, revenue }, at) => {
    const rate = (conversions + 1) / (matured + 2)
    const { from = 0, to = 0, best = 0, loss = 0 } = drawn[at] ?? {}
    return { mean: conversions === 0 ? 0 : (rate * revenue) / conversions, from, to, best, loss }
  })
}

type Asked = {
  readonly test: Pick<SplitTest, 'id' | 'of' | 'node'>
  /** `counted`: one for each time of constant weights. */
  readonly variants: readonly (Named & { readonly counted: readonly CountedVariant[] })[]
  readonly since_ms: number
  readonly now_ms: number
  /** The id of the variant that was kept, if the test was ended. */
  readonly kept: string | undefined
}

export type JudgedTest = Omit<SplitTest, 'automatic' | 'weight_moves'>

/** The test with its figures and its verdict. */
export function judge({ test, variants, since_ms, now_ms, kept }: Asked): JudgedTest {
  const counts = variants.map(({ counted }) => plainCounts(counted))
  const effective = comparedCounts(variants.map(({ counted }) => counted))
  const rates = estimateRates(effective.map(({ matured, conversions }) => ({ visitors: matured, conversions })))
  const earnings = estimateEarnings(effective)
  const revenue = counts.reduce((sum, one) => sum + one.revenue, 0)
  const most = Math.max(...counts.map(one => one.most))
  const heavy_tail = revenue > 0 && most > HEAVY * revenue
  // Without revenue, variants are compared by their conversions.
  const compared = effective.reduce((sum, one) => sum + one.revenue, 0) > 0 ? earnings : rates
  const target = RULES.expected_loss * Math.max(...compared.map(({ mean }) => mean))
  const least = Math.min(...compared.map(({ loss }) => loss))
  const days = (now_ms - since_ms) / DAY_MS
  const needs = needsOf(counts, { days, least, target, rates: rates.map(({ mean }) => mean) })
  const isReady = !heavy_tail && days >= RULES.days && needs.visitors === 0
  const leader = variants[compared.findIndex(({ loss }) => loss === least)]
  return {
    ...test,
    since: new Date(since_ms).toISOString(),
    state: kept !== undefined ? 'ended' : isReady ? 'ready' : 'running',
    winner: kept ?? (isReady ? (leader?.id ?? null) : null),
    heavy_tail,
    needs,
    rules: RULES,
    variants: variants.map(({ id, name, weight }, at) => ({
      id,
      name,
      weight,
      visitors: counts[at]?.visitors ?? 0,
      matured: counts[at]?.matured ?? 0,
      conversions: counts[at]?.conversions ?? 0,
      rate: rates[at] ?? NOTHING,
      epv: earnings[at] ?? NOTHING,
    })),
  }
}

const NOTHING = { mean: 0, from: 0, to: 0, best: 0, loss: 0 }

type Standing = { days: number; least: number; target: number; rates: readonly number[] }

/** How many more visitors would bring the missing conversions and the wanted certainty, and in how many days they come. */
function needsOf(counts: readonly CountedVariant[], { days, least, target, rates }: Standing): SplitTest['needs'] {
  const all = counts.reduce((sum, { visitors }) => sum + visitors, 0)
  if (all === 0) return { visitors: null, days: null }
  const forConversions = counts.map(({ visitors, conversions }, at) => {
    const missing = RULES.conversions - conversions
    const share = visitors / all || 1 / counts.length
    return missing <= 0 ? 0 : missing / (rates[at] ?? 1) / share
  })
  // The expected loss falls roughly with the square root of the visitors.
  const forCertainty = least <= target ? 0 : all * ((least / target) ** 2 - 1)
  const visitors = Math.min(MOST_NEEDED, Math.ceil(Math.max(...forConversions, forCertainty)))
  const byVisitors = visitors / (all / Math.max(days, 1 / 24))
  return { visitors, days: Math.max(0, Math.ceil(Math.max(byVisitors, RULES.days - days))) }
}
