/**
 * Split tests: which of several variants converts best, and how sure that is. Owns no table. A rate is drawn from the beta distribution of its
 * conversions and of the visitors who did not convert, with nothing known before.
 */
import type { Call } from '../../contract/endpoint.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'
import { type Beta, expectedGain, meanOf, probabilityGreater, quantileOf } from './beta.ts'
import { compareByDraws, drawBeta } from './draws.ts'

type Counted = { readonly visitors: number; readonly conversions: number }

/** The figures of the conversion rates of two or more variants. Effective counts, which are no whole numbers, are compared by draws. */
export function estimateRates(variants: readonly Counted[]) {
  const betas = variants.map(({ visitors, conversions }) => ({ a: conversions + 1, b: visitors - conversions + 1 }))
  const areWhole = betas.every(({ a, b }) => Number.isInteger(a) && Number.isInteger(b))
  const compared =
    betas.length === 2 && areWhole
      ? compareTwo(betas)
      : compareByDraws(betas.map(beta => random => drawBeta(random, beta)))
  return betas.map((beta, at) => ({
    mean: meanOf(beta),
    from: quantileOf(beta, 0.05),
    to: quantileOf(beta, 0.95),
    best: compared[at]?.best ?? 0,
    loss: compared[at]?.loss ?? 0,
  }))
}

const compareTwo = (betas: readonly Beta[]) =>
  betas.map((one, at) => {
    const other = betas[1 - at] ?? one
    return { best: probabilityGreater(one, other), loss: expectedGain(other, one) }
  })

/** Reads nothing: the figures follow from the call alone. */
export const computeSplitTest = (
  _context: Context<typeof api.computeSplitTest>,
  { body }: Call<typeof api.computeSplitTest>,
) => ({ variants: estimateRates(body.variants) })
