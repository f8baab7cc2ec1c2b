/** Postback rules over HTTP: which address is called for which conversion. */
import { z } from 'zod'
import { Address } from '../../contract/address.ts'
import { Deleted } from '../../contract/consequences.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Id, Instant, Page, SUBS } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'
import { Warnings } from '../../contract/warnings.ts'
import { dryRun, RunPlan } from '../deliveries/api.ts'

/** The macros a rule's address may hold, in the order they are offered. */
export const POSTBACK_MACROS = [
  'click_id',
  'event_type',
  'status',
  'revenue',
  'revenue_cents',
  'currency',
  'txid',
  ...SUBS,
  'ref_id',
  'event_id',
  'campaign_id',
  'offer_id',
  'geo',
  'timestamp',
] as const
export type PostbackMacro = (typeof POSTBACK_MACROS)[number]

/** A macro in an address: its name in any case, the braces doubled or percent-encoded by an editor; of any other `{…}` no name is caught. */
export const MACRO = /(?:\{|%7b){1,2}([a-z][a-z0-9_.]{0,63})(?:\}|%7d){1,2}|\{[^{}]*\}/gi

/** The macros of an address that are none and are left out, each once, as they are written between their braces. */
export function unknownMacros(url: string): string[] {
  const names = Array.from(url.matchAll(MACRO), ([text, name]) => name?.toLowerCase() ?? text.slice(1, -1))
  const known: readonly string[] = POSTBACK_MACROS
  return [...new Set(names)].filter(name => !known.includes(name))
}

/** What a new rule's address may begin from; `{ref_id}` is the click id of the tracker that sent the visitor. */
export const PRESETS = {
  keitaro: {
    name: 'Keitaro',
    url: 'https://your-tracker.example/your-key/postback?subid={ref_id}&status={event_type}&tid={event_id}&payout={revenue}&currency={currency}',
  },
  binom: {
    name: 'Binom',
    url: 'https://your-tracker.example/click.php?cnv_id={ref_id}&cnv_status={event_type}&payout={revenue}',
  },
  custom: { name: 'Custom', url: '' },
} as const
const Preset = z.enum(['keitaro', 'binom', 'custom'] satisfies (keyof typeof PRESETS)[])

/** When a rule calls: once a conversion is recorded, once it is approved, with a verdict, or with all that is said of it later. */
export const CALLED_ON = ['recorded', 'approved', 'rejected', 'refunded', 'chargeback', 'any_change'] as const
const CalledOn = z.enum(CALLED_ON)

const PostbackMethod = z.enum(['GET', 'POST'])

export const PostbackRule = z
  .object({
    id: Id,
    event_type: EventType,
    url: z.string(),
    unknown_macros: z.array(z.string()).meta({
      description:
        'Macros in the address that do not exist and are left out. {payout} is none: the amount is {revenue}',
    }),
    method: PostbackMethod,
    campaign_id: Id.nullable().meta({ description: 'null: every campaign of the organization, future ones too' }),
    traffic_source_id: Id.nullable().meta({
      description: 'Only conversions of clicks whose campaign has this traffic source at the time',
    }),
    on: CalledOn.meta({
      description:
        'recorded: when a conversion is recorded. approved: then too unless it is held, and with each revision that approves it. Else with each revision that says so',
    }),
    preset: z.string().nullable(),
    active: z.boolean(),
    once_per_person: z.boolean(),
    switched_off_at: Instant.nullable().meta({ description: 'When Sluice switched it off because it had only failed' }),
    switched_off_reason: z.string().nullable(),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'PostbackRule' })
export type PostbackRule = z.output<typeof PostbackRule>

const WrittenPostbackRule = PostbackRule.extend({ warnings: Warnings }).meta({ id: 'WrittenPostbackRule' })

export const PostbackRuleDraft = z.object({
  event_type: EventType,
  url: Address,
  method: PostbackMethod.nullish().meta({
    description: 'GET unless given; a key creates GET rules only. Never changes afterwards.',
  }),
  campaign_id: Id.nullish(),
  traffic_source_id: Id.nullish().meta({
    description:
      'In place of campaign_id: every campaign that has this traffic source. Never changes; a key cannot name one',
  }),
  on: CalledOn.nullish().meta({
    description: 'What it calls on; recorded unless given. A key cannot name another',
  }),
  preset: Preset.nullish(),
  active: z.boolean().nullish().meta({
    description: 'true unless given; of a rule for a traffic source false, while its address holds a placeholder',
  }),
  once_per_person: z.boolean().nullish().meta({
    description: 'true: only the first matching conversion of each person calls; false unless given',
  }),
})
export type PostbackRuleDraft = z.output<typeof PostbackRuleDraft>

const PostbackRuleChanges = PostbackRuleDraft.partial()

export const listPostbackRules = endpoint({
  route: 'GET /api/postbacks',
  access: { session: 'member' },
  summary: 'List postback rules, newest first',
  query: z.object({
    ...paging,
    campaign_id: Id.optional(),
    traffic_source_id: Id.optional(),
    event_type: EventType.optional(),
    active: z.enum(['true', 'false']).optional(),
  }),
  reply: Page(PostbackRule),
})

export const readPostbackRule = endpoint({
  route: 'GET /api/postbacks/:id',
  access: { session: 'member' },
  summary: 'Read a postback rule',
  reply: PostbackRule,
  refuses: ['object_not_found'],
})

export const createPostbackRule = endpoint({
  route: 'POST /api/postbacks',
  access: { session: 'admin', key: 'postbacks' },
  summary: 'Create a postback rule',
  description:
    'From then on the address is called once for each matching conversion. Macros: {click_id}, {event_type}, {status}, {revenue}, {currency}, {txid}, {sub1} to {sub9}, {ref_id}, {event_id}, {campaign_id}, {offer_id}, {geo}, {timestamp}. A key creates GET rules only.',
  body: PostbackRuleDraft,
  reply: WrittenPostbackRule,
  status: 201,
  refuses: [
    'invalid_request',
    'placeholder_left',
    'postback_method_forbidden',
    'campaign_scope_forbidden',
    'api_key_resource_forbidden',
  ],
})

export const updatePostbackRule = endpoint({
  route: 'PATCH /api/postbacks/:id',
  access: { session: 'admin', key: 'postbacks:update' },
  summary: 'Change a postback rule',
  description:
    'Fields that are not sent stay as they are, and what is equal already too. The method never changes: make a new rule for another one.',
  body: PostbackRuleChanges,
  reply: WrittenPostbackRule,
  receipt: ['active'],
  refuses: [
    'object_not_found',
    'invalid_request',
    'placeholder_left',
    'campaign_scope_forbidden',
    'api_key_resource_forbidden',
  ],
})

export const deletePostbackRule = endpoint({
  route: 'DELETE /api/postbacks/:id',
  access: { session: 'admin', key: 'postbacks:delete' },
  summary: 'Delete a postback rule',
  description: 'Deliveries of it that are still waiting are skipped.',
  reply: Deleted,
  refuses: ['object_not_found', 'campaign_scope_forbidden'],
})

export const testPostbackRule = endpoint({
  route: 'POST /api/postbacks/:id/test',
  access: { session: 'admin' },
  summary: 'Call a rule at once, with the values of a real click',
  description:
    'The newest click the rule could be called for, unless one is named. The event id is made up and stands for {txid} too; {revenue} is what the click’s offer pays for the type. No delivery is written, and a rule that is off is called too.',
  body: z.object({ click_id: Id.nullish() }),
  reply: z.object({
    ok: z.boolean(),
    click_id: Id,
    method: z.string(),
    url: z.string(),
    status: z.number().int().nullable(),
    error: z.string().nullable(),
    answer: z.string().nullable(),
    took_ms: z.number().int(),
  }),
  refuses: ['object_not_found', 'invalid_request', 'no_click_yet'],
})

export const backfillPostbackRule = endpoint({
  route: 'POST /api/postbacks/:id/backfill',
  access: { session: 'admin' },
  summary: 'Run a rule over past conversions',
  description:
    'Each conversion once, and none that the rule was called for already. Shows the first addresses and the count; with dry_run false the worker puts them out in portions. At most 100,000 in a run, one run at a time.',
  body: z.object({ date_from: Instant.nullish(), date_to: Instant.nullish(), dry_run: dryRun }),
  reply: RunPlan,
  refuses: ['object_not_found', 'invalid_request', 'run_under_way'],
})
