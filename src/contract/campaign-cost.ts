/** The cost model of a campaign's clicks: unknown, read from each link, or a fixed price. */
import { z } from 'zod'
import { toUnits } from './decimals.ts'
import { Amount, Money } from './fields.ts'

const COST_MODELS = ['link', 'cpc', 'cpm'] as const
/** US dollars. */
const MAX_CLICK_COST = 1000
/** US dollars for a thousand clicks. */
const MAX_THOUSAND_COST = 1_000_000
/** Costs of clicks are not converted, so other currencies are refused. */
const Currency = z.string().refine(code => code === 'USD', { message: 'only USD is understood' })

export const CampaignCost = z
  .object({
    model: z.enum(COST_MODELS).meta({
      description:
        'link: the parameter `cost` of each link; cpc: a fixed price per click; cpm: a fixed price per thousand clicks',
    }),
    amount: Money.nullable().meta({ description: 'The fixed price; null for link' }),
    currency: Currency,
    max: Money.nullable().meta({
      description: 'The highest cost of one click that a link may state; null unless model is link',
    }),
  })
  .nullable()
  .meta({ id: 'CampaignCost', description: 'Null: clicks have no cost of their own' })
export type CampaignCost = z.output<typeof CampaignCost>

export const CampaignCostDraft = z
  .strictObject({
    model: z.enum(['none', ...COST_MODELS]),
    amount: Amount(MAX_THOUSAND_COST).nullish(),
    currency: Currency.nullish(),
    max: Amount(MAX_CLICK_COST)
      .refine(max => max !== '0', { message: 'must be more than 0' })
      .nullish(),
  })
  .superRefine(({ model, amount, max }, context) => {
    const wrong = (field: 'amount' | 'max', message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    const isFixed = model === 'cpc' || model === 'cpm'
    if (isFixed && amount == null) wrong('amount', `must be sent with ${model}: its price in US dollars`)
    if (!isFixed && amount != null) wrong('amount', `goes with cpc and cpm, not with ${model}`)
    if (model === 'cpc' && amount != null && toUnits(amount, 6) > toUnits(String(MAX_CLICK_COST), 6))
      wrong('amount', `must be at most ${MAX_CLICK_COST.toLocaleString('en-US')} a click`)
    if (model !== 'link' && max != null) wrong('max', `goes with link, not with ${model}`)
  })
  .meta({
    description:
      'The cost of clicks. link: the parameter `cost` of each link, at most `max` (default 10); cpc and cpm: the fixed price `amount`; none or null: unknown',
  })
export type CampaignCostDraft = z.output<typeof CampaignCostDraft>
