/** Postback rules over HTTP: the address called for each kind of conversion. */
import { z } from 'zod'
import { Address } from '../../contract/address.ts'
import { Deleted } from '../../contract/consequences.ts'
import { endpoint, REPEATABLE } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Id, Instant, Page, SUBS } from '../../contract/fields.ts'
import { pickedFile } from '../../contract/list-files.ts'
import { paging } from '../../contract/paging.ts'
import { Warnings } from '../../contract/warnings.ts'
import { dryRun, RunPlan } from '../deliveries/api.ts'

/** The macros of a rule's address, in the order they are shown. */
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

/** Matches a macro in an address and captures its name, in any case, with single, double or percent-encoded braces. Any other `{…}` matches without a name. */
export const MACRO = /(?:\{|%7b){1,2}([a-z][a-z0-9_.]{0,63})(?:\}|%7d){1,2}|\{[^{}]*\}/gi

/** The unknown macros of an address, which are left out of calls: each once, as written between the braces. */
export function unknownPostbackMacros(url: string): string[] {
  const names = Array.from(url.matchAll(MACRO), ([text, name]) => name?.toLowerCase() ?? text.slice(1, -1))
  const known: readonly string[] = POSTBACK_MACROS
  return [...new Set(names)].filter(name => !known.includes(name))
}

/** Addresses to start a new rule from. `{ref_id}` is the click id of the tracker that sent the visitor. */
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

/** When a rule calls: when a conversion is recorded, approved, rejected, refunded or charged back, or at every later change. */
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
        'Unknown macros in the address, which are left out of calls. {payout} is one of them: the amount is {revenue}',
    }),
    method: PostbackMethod,
    campaign_id: Id.nullable().meta({ description: 'null: every campaign of the organization, including future ones' }),
    traffic_source_id: Id.nullable().meta({
      description: 'Only conversions of clicks whose campaign has this traffic source at that time',
    }),
    on: CalledOn.meta({
      description:
        'recorded: when a conversion is recorded. approved: when it is recorded without being held, and at each revision that approves it. Others: at each revision with that status',
    }),
    preset: z.string().nullable(),
    active: z.boolean(),
    once_per_person: z.boolean(),
    switched_off_at: Instant.nullable().meta({ description: 'When Sluice switched it off because every call failed' }),
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
    description: 'Default: GET. Keys create GET rules only. Cannot be changed later.',
  }),
  campaign_id: Id.nullish(),
  traffic_source_id: Id.nullish().meta({
    description:
      'Instead of campaign_id: every campaign with this traffic source. Cannot be changed later, and keys cannot set it',
  }),
  on: CalledOn.nullish().meta({
    description: 'When it calls. Default: recorded. Keys cannot set another value',
  }),
  preset: Preset.nullish(),
  active: z.boolean().nullish().meta({
    description: 'Default: true; for a rule of a traffic source false while its address contains a placeholder',
  }),
  once_per_person: z.boolean().nullish().meta({
    description: 'true: only the first matching conversion of each person is called for. Default: false',
  }),
})
export type PostbackRuleDraft = z.output<typeof PostbackRuleDraft>

const PostbackRuleChanges = PostbackRuleDraft.partial()

const filters = {
  campaign_id: Id.optional(),
  traffic_source_id: Id.optional(),
  event_type: EventType.optional(),
  active: z.enum(['true', 'false']).optional(),
}

export const listPostbackRules = endpoint({
  route: 'GET /api/postbacks',
  access: { session: 'member' },
  summary: 'List postback rules, newest first',
  query: z.object({ ...paging, ...filters }),
  reply: Page(PostbackRule),
})

export const exportPostbackRules = endpoint({
  ...pickedFile(filters),
  route: 'POST /api/postbacks/csv',
  summary: 'Save postback rules as a CSV file',
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
  history: 'postback',
  summary: 'Create a postback rule',
  description:
    'From now on the address is called once for each matching conversion. Macros: {click_id}, {event_type}, {status}, {revenue}, {currency}, {txid}, {sub1} to {sub9}, {ref_id}, {event_id}, {campaign_id}, {offer_id}, {geo}, {timestamp}. Keys create GET rules only.',
  body: PostbackRuleDraft,
  reply: WrittenPostbackRule,
  status: 201,
  ...REPEATABLE,
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
  history: 'postback',
  summary: 'Change a postback rule',
  description:
    'Fields that are not sent stay as they are; a change to the current values is a no-op. The method cannot change: create another rule instead.',
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
  history: 'postback',
  summary: 'Delete a postback rule',
  description: 'Its waiting deliveries are skipped.',
  reply: Deleted,
  refuses: ['object_not_found', 'campaign_scope_forbidden'],
})

export const testPostbackRule = endpoint({
  route: 'POST /api/postbacks/:id/test',
  access: { session: 'admin' },
  history: { none: 'it sends a test call and stores nothing' },
  summary: 'Test a rule by calling it at once with the values of a real click',
  description:
    'Uses the click in click_id, or else the newest click that matches the rule. The event id is made up and also fills {txid}; {revenue} is what the click’s offer pays for the type. No delivery is recorded. Works for a rule that is off.',
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
  history: { none: 'a run has its own record' },
  summary: 'Run a rule over past conversions',
  description:
    'Calls the rule once for each past conversion that it was not called for yet. A dry run shows the count and the first addresses; with dry_run false the worker queues the calls in batches. At most 100,000 per run, one run at a time.',
  body: z.object({ date_from: Instant.nullish(), date_to: Instant.nullish(), dry_run: dryRun }),
  reply: RunPlan,
  refuses: ['object_not_found', 'invalid_request', 'run_under_way'],
})
