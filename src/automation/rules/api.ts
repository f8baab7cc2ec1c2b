/** Rules over HTTP: what Sluice does by itself upon results. Sessions only: no right of keys covers these routes. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, Id, Instant, Money, Name, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'
import { Conditions, Decimal, is, Over, positive, RULE_FIELDS, RULE_FIGURES } from '../../contract/rules.ts'
import { CAP_PERIODS } from '../../traffic/caps/api.ts'
import { LeadsTo, LEFT_OUT_FIELDS } from '../../traffic/left-out/api.ts'

const RuleAct = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('tell'),
    receiver_ids: z.array(Id).max(50).meta({ description: 'Empty: all receivers that are told about rules' }),
  }),
  z.strictObject({ type: z.literal('leave_out'), leads_to: LeadsTo.optional() }),
  z.strictObject({ type: z.literal('pause') }),
  z.strictObject({
    type: z.literal('weights'),
    share: z.number().min(0).max(1).meta({
      description: 'The share that the landing or offer then has in the funnel of the campaign',
    }),
  }),
  z.strictObject({
    type: z.literal('cap'),
    limit: z.int().min(1).max(1_000_000_000).meta({ description: 'Clicks of the campaign in a period' }),
    period: z.enum(CAP_PERIODS),
  }),
])
export type RuleAct = z.output<typeof RuleAct>

const fields = {
  name: Name(),
  active: z.boolean().default(true),
  over: Over.meta({ description: 'Campaigns of a tag or a traffic source belong to it later, too' }),
  value_of: z.enum(RULE_FIELDS).nullable().default(null).meta({
    description: 'Judges each value of this field within each campaign; null: each campaign as a whole',
  }),
  when: Conditions,
  window: z.strictObject({
    hours: z.int().min(1).max(720),
    leave_out_newest_hours: z.int().min(0).max(72).default(0),
  }),
  at_least: z
    .strictObject({ clicks: z.int().min(1).max(1_000_000_000).optional(), cost: positive(Decimal).optional() })
    .refine(({ clicks, cost }) => clicks !== undefined || cost !== undefined, { message: 'needs clicks or cost' })
    .meta({ description: 'Objects with less are not judged' }),
  then: z.array(RuleAct).min(1).max(5),
  every: z
    .union([z.literal(5), z.literal(15), z.literal(60), z.literal('day')])
    .meta({ description: 'Minutes, or day' }),
  at: z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
    .nullish()
    .meta({ description: 'With every day, in the workspace’s time zone; 09:00 by default', examples: ['09:00'] }),
  back: z
    .union([
      z.strictObject({ when: Conditions }),
      z.strictObject({
        after_days: z.int().min(1).max(365),
        share: z.number().min(0.01).max(1).meta({ description: 'The part of its visitors that is then let in' }),
      }),
    ])
    .nullable()
    .default(null)
    .meta({ description: 'When an object that was left out or paused comes back' }),
  stop_line: z
    .strictObject({
      clicks_percent: z.number().min(1).max(100).default(20),
      objects: z.int().min(1).max(200).default(50),
    })
    .prefault({})
    .meta({
      description:
        'Above it the rule asks first: the part of a campaign’s clicks of yesterday that it would leave out, and the number of objects',
    }),
}
const Fields = z.strictObject(fields)
export type RuleFields = z.output<typeof Fields>

/** Why the fields do not go together; undefined if they do. */
export function faultOfRule({ value_of, then, back }: RuleFields): { path: string; message: string } | undefined {
  const has = (type: RuleAct['type']) => then.some(act => act.type === type)
  const canLeaveOut = value_of !== null && (LEFT_OUT_FIELDS as readonly string[]).includes(value_of)
  if (new Set(then.map(({ type }) => type)).size < then.length) return { path: 'then', message: 'has an act twice' }
  if (has('leave_out') && !canLeaveOut)
    return { path: 'value_of', message: 'leave_out needs a field whose values can be left out' }
  if (has('weights') && value_of !== 'landing' && value_of !== 'offer')
    return { path: 'value_of', message: 'weights needs landing or offer' }
  if (back !== null && !has('leave_out') && !has('pause'))
    return { path: 'back', message: 'goes with leave_out or pause only' }
  return undefined
}

export const RuleDraft = Fields.superRefine((rule, context) => {
  const fault = faultOfRule(rule)
  if (fault !== undefined) context.addIssue({ code: 'custom', path: [fault.path], message: fault.message })
}).meta({ id: 'RuleDraft' })
/** Without defaults: a field that is not sent stays as it is. */
const RuleChanges = z.strictObject({
  ...Fields.partial().shape,
  active: z.boolean().optional(),
  value_of: z.enum(RULE_FIELDS).nullable().optional(),
  back: fields.back.unwrap().optional(),
  stop_line: fields.stop_line.unwrap().optional(),
})

const ShownCondition = z.union([
  z.object({ figure: z.literal('cost'), is, times_payout: z.number() }),
  z.object({ figure: z.enum(RULE_FIGURES), is, value: z.union([z.number(), Money]) }),
])
const STATES = ['watching', 'waiting', 'asking', 'failing'] as const

export const ResultRule = z
  .object({
    ...fields,
    id: Id,
    name: z.string(),
    active: z.boolean(),
    version: z.int().meta({ description: 'Counts the changes' }),
    value_of: z.enum(RULE_FIELDS).nullable(),
    when: z.array(ShownCondition),
    window: z.object({ hours: z.int(), leave_out_newest_hours: z.int() }),
    at_least: z.object({ clicks: z.int().optional(), cost: Money.optional() }),
    at: z.string().nullable(),
    back: z
      .union([z.object({ when: z.array(ShownCondition) }), z.object({ after_days: z.int(), share: z.number() })])
      .nullable(),
    stop_line: z.object({ clicks_percent: z.number(), objects: z.int() }),
    state: z.enum(STATES).meta({ description: 'As the last check left it' }),
    waits_for: z.string().nullable().meta({
      description:
        'Why it waits or fails: days_incomplete, spend_not_read, spend_by_day_only, or the code of a refusal',
    }),
    next_check_at: Instant.nullable().meta({ description: 'null while it is off' }),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'Rule' })
export type ResultRule = z.output<typeof ResultRule>

const OBJECT_ACTS = ['left_out', 'paused', 'told', 'let_in', 'weights', 'cap'] as const

const RuleFigures = z
  .object({
    clicks: z.int(),
    conversions: z.int(),
    cost: Money.nullable(),
    revenue: Money,
    profit: Money.nullable(),
    roi: z.number().nullable(),
    cpa: Money.nullable(),
    cr: z.number().nullable(),
    epc: Money.nullable(),
    approval_rate: z.number().nullable(),
  })
  .meta({ id: 'RuleFigures', description: 'As in the report; null where there is none' })
export type RuleFigures = z.output<typeof RuleFigures>

const acted = {
  campaign_id: Id,
  field: z.enum(RULE_FIELDS).nullable().meta({ description: 'null: the campaign as a whole' }),
  value: z.string().nullable(),
  act: z.enum(OBJECT_ACTS),
  figures: RuleFigures,
}

export const RuleCheck = z
  .object({
    id: Id,
    checked_at: Instant,
    version: z.int().meta({ description: 'Of the rule at that time' }),
    window: z.object({ from: Instant, to: Instant }),
    state: z.enum(['acted', 'nothing', 'waited', 'asked']),
    reason: z.string().nullable(),
    objects: z.array(
      z.object({
        ...acted,
        history_id: Id.nullable().meta({ description: 'The row of the history that puts the act back' }),
      }),
    ),
  })
  .meta({ id: 'RuleCheck' })
export type RuleCheck = z.output<typeof RuleCheck>

const TriedRule = z
  .object({
    from: Instant,
    to: Instant,
    checks: z.int(),
    acts: z.array(z.object({ at: Instant, ...acted })),
    saved: Money.meta({ description: 'The cost of the clicks that would have been left out' }),
    lost: Money.meta({ description: 'Their revenue, as it is today' }),
  })
  .meta({ id: 'TriedRule' })
export type TriedRule = z.output<typeof TriedRule>
const days = z.int().min(7).max(30)

export const listRules = endpoint({
  route: 'GET /api/rules',
  access: { session: 'member' },
  summary: 'List rules, newest first',
  query: z.object(paging),
  reply: Page(ResultRule),
})

export const readRule = endpoint({
  route: 'GET /api/rules/:id',
  access: { session: 'member' },
  summary: 'Read a rule',
  reply: ResultRule,
  refuses: ['object_not_found'],
})

export const createRule = endpoint({
  route: 'POST /api/rules',
  access: { session: 'admin' },
  history: 'rule',
  summary: 'Create a rule',
  description:
    'Judges campaigns, or values of a field within them, by their figures in a moving window, and acts. It is checked at each full interval of the clock. Refuses spend_by_day_only for a condition on spend where the spend of a campaign is recorded by day, unless it is checked once a day over whole days.',
  body: RuleDraft,
  reply: ResultRule,
  status: 201,
  refuses: ['invalid_request', 'spend_by_day_only'],
})

export const updateRule = endpoint({
  route: 'PATCH /api/rules/:id',
  access: { session: 'admin' },
  history: 'rule',
  summary: 'Change a rule',
  description: 'Fields that are not sent do not change. Its log stays.',
  body: RuleChanges,
  reply: ResultRule,
  refuses: ['object_not_found', 'invalid_request', 'spend_by_day_only'],
})

export const deleteRule = endpoint({
  route: 'DELETE /api/rules/:id',
  access: { session: 'admin' },
  history: 'rule',
  summary: 'Delete a rule',
  description: 'What it did stays.',
  reply: Done,
  refuses: ['object_not_found'],
})

export const checkRule = endpoint({
  route: 'POST /api/rules/:id/check',
  access: { session: 'admin' },
  history: { none: 'each object that it changes has a row of its own kind' },
  summary: 'Check a rule now, as if it were due',
  reply: RuleCheck,
  refuses: ['object_not_found', 'explore_busy', 'question_too_wide'],
})

export const listRuleChecks = endpoint({
  route: 'GET /api/rules/:id/log',
  access: { session: 'member' },
  summary: 'List the checks of a rule that acted, waited or asked, newest first',
  query: z.object(paging),
  reply: Page(RuleCheck),
  refuses: ['object_not_found'],
})

export const confirmRule = endpoint({
  route: 'POST /api/rules/:id/confirm',
  access: { session: 'admin' },
  history: { none: 'each object that it changes has a row of its own kind' },
  summary: 'Have a rule do what it asked for',
  body: z.strictObject({ check_id: Id }),
  reply: RuleCheck,
  refuses: ['object_not_found', 'asked_before', 'check_outdated'],
})

const tried =
  'Hour by hour (once a day with every day), by what was recorded until that hour. Acts above the stop line are left out, because a person must confirm them. It changes nothing.'

export const tryRule = endpoint({
  route: 'POST /api/rules/try',
  access: { session: 'admin' },
  reads: true,
  summary: 'Find out what a rule would have done',
  description: tried,
  body: z.strictObject({ rule: RuleDraft, days }),
  reply: TriedRule,
  refuses: ['invalid_request', 'spend_by_day_only', 'question_too_wide'],
})

export const trySavedRule = endpoint({
  route: 'POST /api/rules/:id/try',
  access: { session: 'admin' },
  reads: true,
  summary: 'Find out what a saved rule would have done',
  description: tried,
  body: z.strictObject({ days }),
  reply: TriedRule,
  refuses: ['object_not_found', 'spend_by_day_only', 'question_too_wide'],
})
