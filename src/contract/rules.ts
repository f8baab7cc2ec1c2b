/** The conditions and objects of rules: the figures, fields and campaigns that a rule judges. */
import { z } from 'zod'
import { Id, SUBS } from './fields.ts'

/** The fields whose values a rule can judge within campaigns. */
export const RULE_FIELDS = [...SUBS, 'geo', 'device', 'os', 'browser', 'hour', 'landing', 'offer'] as const
export type RuleField = (typeof RULE_FIELDS)[number]

export const RULE_FIGURES = [
  'clicks',
  'conversions',
  'cost',
  'revenue',
  'profit',
  'roi',
  'cpa',
  'cr',
  'epc',
  'approval_rate',
] as const
type RuleFigure = (typeof RULE_FIGURES)[number]
/** Figures that are amounts of money. */
export const MONEY_FIGURES: readonly RuleFigure[] = ['cost', 'revenue', 'profit', 'cpa', 'epc']
/** Figures that need the spend. */
export const SPEND_FIGURES: readonly RuleFigure[] = ['cost', 'profit', 'roi', 'cpa']

const PLAIN = /^-?\d{1,9}(\.\d{1,6})?$/
/** A number or a decimal string; kept as a string. */
export const Decimal = z
  .union([z.number(), z.string()])
  .transform(String)
  .refine(text => PLAIN.test(text), {
    message: 'must be a number or a decimal string with at most 9 digits before the point and 6 after it',
  })
export const positive = (schema: typeof Decimal) =>
  schema.refine(text => Number(text) > 0, { message: 'must be above 0' })

export const is = z.enum(['above', 'below'])
const Condition = z.union([
  z.strictObject({ figure: z.literal('cost'), is, times_payout: z.number().min(0.01).max(1000) }).meta({
    description: 'Compares the cost with so many payouts of the offer that the clicks led to',
  }),
  z.strictObject({ figure: z.enum(RULE_FIGURES), is, value: Decimal }),
])
export type Condition = z.output<typeof Condition>
export const Conditions = z.array(Condition).min(1).max(6).meta({ description: 'All of them must hold' })

export const Over = z.union([
  z.strictObject({ campaign_ids: z.array(Id).min(1).max(500) }),
  z.strictObject({ tag_id: Id }),
  z.strictObject({ traffic_source_id: Id }),
])
export type Over = z.output<typeof Over>
