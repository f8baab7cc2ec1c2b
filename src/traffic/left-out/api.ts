/** The endpoints of left-out values: values of a campaign whose visitors go to its fallback or to another offer. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { FAITHFUL, Id, Instant, Page, SUBS, Text } from '../../contract/fields.ts'
import { paging, Search } from '../../contract/paging.ts'

export const LEFT_OUT_FIELDS = [...SUBS, 'geo', 'device', 'os', 'browser', 'hour', 'creative'] as const
export const MOST_LEFT_OUT = 10_000
const MOST_VALUES = 1000
const MOST_ENTRIES = 500

const Field = z.enum(LEFT_OUT_FIELDS).meta({
  description:
    'hour: 00 to 23 in the workspace’s time zone. creative: the sub that the campaign’s traffic source labels so',
})
/** Compared exactly, so it is not trimmed. */
const Value = z.string().refine(...FAITHFUL)

export const LeadsTo = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('fallback') }),
    z.object({ type: z.literal('offer'), offer_id: Id }),
  ])
  .meta({ id: 'LeftOutLeadsTo' })

export const LeftOutValue = z
  .object({
    id: Id,
    field: Field,
    value: z.string(),
    leads_to: LeadsTo,
    note: z.string().nullable(),
    until: Instant.nullable().meta({ description: 'From then on visitors with the value are let in again' }),
    rule_id: Id.nullable(),
    created_at: Instant,
  })
  .meta({ id: 'LeftOutValue' })
export type LeftOutValue = z.output<typeof LeftOutValue>

const leads_to = LeadsTo.nullish().meta({ description: 'Without it: the fallback of the campaign' })
const details = { leads_to, note: Text(500).nullish(), until: Instant.nullish() }

const Added = z
  .object({
    added: z.int(),
    same: z.int().meta({ description: 'Values that were on the list already' }),
    data: z.array(LeftOutValue).meta({ description: 'The added values' }),
  })
  .meta({ id: 'LeftOutAdded' })

export const listLeftOut = endpoint({
  route: 'GET /api/campaigns/:id/left-out',
  access: { session: 'member' },
  summary: 'List the left-out values of a campaign, newest first',
  query: z.object({ ...paging, field: Field.optional(), q: Search.meta({ description: 'Part of the value' }) }),
  reply: Page(LeftOutValue),
  refuses: ['object_not_found'],
})

export const leaveOut = endpoint({
  route: 'POST /api/campaigns/:id/left-out',
  access: { session: 'admin' },
  history: { in: 'left_out' },
  summary: 'Leave values of a campaign out',
  description: `Visitors with such a value go to the campaign’s fallback, or to an offer. Their clicks are stored and counted, because they were paid for. A campaign has at most ${MOST_LEFT_OUT} values.`,
  body: z.object({ field: Field, values: z.array(Value).min(1).max(MOST_VALUES), ...details }),
  reply: Added,
  status: 201,
  refuses: ['object_not_found', 'left_out_limit', 'invalid_request'],
})

export const letIn = endpoint({
  route: 'DELETE /api/campaigns/:id/left-out',
  access: { session: 'admin' },
  history: { in: 'left_out' },
  summary: 'Let values of a campaign in again',
  query: z.object({ field: Field, value: z.string().optional().meta({ description: 'Without it: all of the field' }) }),
  reply: z.object({ removed: z.int() }),
  refuses: ['object_not_found'],
})

export const leaveOutInMany = endpoint({
  route: 'POST /api/left-out',
  access: { session: 'admin' },
  history: { in: 'left_out' },
  summary: 'Leave values out in several campaigns',
  description: 'One act: all or none.',
  body: z.object({
    entries: z
      .array(z.object({ campaign_id: Id, field: Field, value: Value }))
      .min(1)
      .max(MOST_ENTRIES),
    ...details,
  }),
  reply: Added,
  status: 201,
  refuses: ['object_not_found', 'left_out_limit', 'invalid_request'],
})

const IMPORT_MODES = ['add', 'replace'] as const

const ImportedLine = z
  .object({
    line: z.int().nullable().meta({ description: 'Null for a removed value, which has no line' }),
    value: z.string(),
    fate: z.enum(['new', 'same', 'removed', 'wrong']),
    error: z.string().nullable(),
  })
  .meta({ id: 'LeftOutLine' })
export type ImportedLine = z.output<typeof ImportedLine>

export const importLeftOut = endpoint({
  route: 'POST /api/campaigns/:id/left-out/import',
  access: { session: 'admin' },
  history: { in: 'left_out' },
  summary: 'Import left-out values from text',
  description:
    'One value a line; empty lines count for nothing. All or none: with a wrong line nothing is written, and only a dry run answers the lines.',
  body: z.object({
    field: Field,
    text: z.string().refine(...FAITHFUL),
    mode: z
      .enum(IMPORT_MODES)
      .meta({ description: 'replace: values of the field that the text does not have are let in' }),
    dry_run: z.boolean().meta({ description: 'Writes nothing' }),
    leads_to,
  }),
  reply: z.object({
    dry_run: z.boolean(),
    added: z.int(),
    same: z.int(),
    removed: z.int(),
    wrong: z.int(),
    lines: z.array(ImportedLine),
  }),
  refuses: ['object_not_found', 'left_out_limit', 'invalid_request'],
})

export const TEXT_FORMS = ['lines', 'commas', 'source'] as const

export const readLeftOutText = endpoint({
  route: 'GET /api/campaigns/:id/left-out/text',
  access: { session: 'member' },
  summary: 'Read the left-out values of a field as text, oldest first',
  description: 'Without values that are let in again.',
  query: z.object({
    field: Field,
    form: z
      .enum(TEXT_FORMS)
      .optional()
      .meta({ description: 'source: the form that the blacklist of the campaign’s source takes. Default: lines' }),
  }),
  file: 'text/plain',
  status: 200,
  refuses: ['object_not_found'],
})
