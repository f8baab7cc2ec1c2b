/** The endpoints of traffic sources: the parameters and macros with which a source sends its data of a click. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, FAITHFUL, Id, Instant, Name, Page } from '../../contract/fields.ts'
import { pickedFile } from '../../contract/list-files.ts'
import { LABELS, noteEndpoint, TagFilter, tagsEndpoint } from '../../contract/labels.ts'
import { paging, Search } from '../../contract/paging.ts'
import { SOURCE_FIELDS } from '../campaigns/api.ts'

/** The fields that a source can fill. Cost and currency are not stored as fields of a click: they are read into its cost. */
export const FILLED_FIELDS = [...SOURCE_FIELDS, 'cost', 'currency'] as const
export type FilledField = (typeof FILLED_FIELDS)[number]

const MOST_PARAMETERS = 14

const SourceParameter = z
  .object({
    field: z.enum(FILLED_FIELDS),
    parameter: z.string().meta({ description: 'The name of the URL parameter' }),
    macro: z.string().nullable().meta({
      description:
        'The text in the link that the source replaces; null: the source appends the parameter itself. A word of only letters, digits, dots and hyphens is a constant',
    }),
    label: z.string().nullable().meta({ description: 'The source’s name for the value' }),
  })
  .meta({ id: 'SourceParameter' })
export type SourceParameter = z.output<typeof SourceParameter>

const ParameterDraft = z.strictObject({
  field: z.enum(FILLED_FIELDS),
  parameter: z
    .string()
    .trim()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/, { message: 'must be 1 to 64 of letters, digits, _ . and -' }),
  macro: z
    .string()
    .trim()
    .regex(/^[^\s&]{1,200}$/, { message: 'must be 1 to 200 characters without spaces and &' })
    .refine(...FAITHFUL)
    .nullish()
    .transform(macro => macro ?? null),
  label: Name(60)
    .nullish()
    .transform(label => label ?? null),
})

/** The conflicts between parameters, each with its index, field and message. */
function* clashes(parameters: readonly SourceParameter[]): Generator<[at: number, name: string, message: string]> {
  const names = new Map<string, FilledField>()
  const fields = new Set<FilledField>()
  for (const [at, { field, parameter }] of parameters.entries()) {
    if (fields.has(field)) yield [at, 'field', `${field} is filled already: a field has one parameter`]
    fields.add(field)
    const taker = names.get(parameter) ?? FILLED_FIELDS.find(other => other === parameter && other !== field)
    if (taker !== undefined)
      yield [at, 'parameter', `"${parameter}" fills ${taker} already: a parameter fills one field`]
    names.set(parameter, field)
  }
}

const Parameters = z
  .array(ParameterDraft)
  .max(MOST_PARAMETERS)
  .superRefine((parameters, context) => {
    for (const [at, name, message] of clashes(parameters))
      context.addIssue({ code: 'custom', path: [at, name], message })
  })
  .meta({ description: 'At most one per field, in the order of the link' })

export const COST_UNITS = ['cpc', 'cpm'] as const
const CostUnit = z.enum(COST_UNITS)

const Currency = z
  .string()
  .trim()
  .toUpperCase()
  .regex(/^[A-Z]{3}$/, { message: 'must be the three letters of a currency, such as USD' })

export const TrafficSource = z
  .object({
    id: Id,
    name: z.string(),
    template: z
      .string()
      .nullable()
      .meta({ description: 'The template it was created from; later changes of the template do not apply' }),
    parameters: z.array(SourceParameter),
    cost_unit: CostUnit.nullable().meta({
      description: 'Whether the cost in the link is per click or per thousand clicks; null: the source sends none',
    }),
    cost_currency: z.string().meta({ description: 'The currency of the cost, unless the link contains another' }),
    postback: z.string().nullable().meta({
      description:
        'The postback URL of its template; replace the parts that begin with YOUR_ by values of your account',
    }),
    campaigns: z.int().min(0).meta({ description: 'Campaigns that use it, including archived ones' }),
    created_at: Instant,
    ...LABELS,
    updated_at: Instant,
  })
  .meta({ id: 'TrafficSource' })
export type TrafficSource = z.output<typeof TrafficSource>

export const TrafficSourceDraft = z.object({
  name: Name(100).meta({ description: 'Unique in the organization' }),
  template: z.string().max(64).nullish().meta({ description: 'The slug of a template, whose values are copied' }),
  parameters: Parameters.nullish().meta({ description: 'Default: those of the template' }),
  cost_unit: CostUnit.nullish(),
  cost_currency: Currency.nullish().meta({ description: 'Default: that of the template, or USD' }),
})

export const TrafficSourceChanges = z
  .object({
    name: Name(100),
    parameters: Parameters.meta({ description: 'Replaced as a list' }),
    cost_unit: CostUnit.nullable(),
    cost_currency: Currency,
  })
  .partial()

const SourceTemplate = z
  .object({
    slug: z.string(),
    name: z.string(),
    kind: z.enum(['platform', 'native', 'mobile', 'push', 'pop', 'adult', 'telegram']),
    parameters: z.array(SourceParameter),
    cost_unit: CostUnit.nullable(),
    cost_currency: z.string(),
    postback: z.string().nullable(),
    evidence: z.string().meta({ description: 'Where the values come from' }),
    is_confirmed: z.boolean().meta({
      description: 'Whether the values are from the source’s documentation; otherwise they are from another tracker',
    }),
    checked_on: z.iso.date(),
  })
  .meta({ id: 'SourceTemplate' })

const filters = {
  tag_id: TagFilter,
  q: Search.meta({ description: 'Part of the name' }),
}

export const listTrafficSources = endpoint({
  route: 'GET /api/traffic-sources',
  access: { session: 'member' },
  summary: 'List traffic sources, newest first',
  query: z.object({ ...paging, ...filters }),
  reply: Page(TrafficSource),
})

export const exportTrafficSources = endpoint({
  ...pickedFile(filters),
  route: 'POST /api/traffic-sources/csv',
  summary: 'Save traffic sources as a CSV file',
})

export const listSourceTemplates = endpoint({
  route: 'GET /api/traffic-sources/templates',
  access: { session: 'member' },
  summary: 'List the templates of traffic sources',
  reply: z.object({ data: z.array(SourceTemplate) }),
})

export const readTrafficSource = endpoint({
  route: 'GET /api/traffic-sources/:id',
  access: { session: 'member' },
  summary: 'Read a traffic source',
  reply: TrafficSource,
  refuses: ['object_not_found'],
})

export const createTrafficSource = endpoint({
  route: 'POST /api/traffic-sources',
  access: { session: 'admin' },
  history: 'traffic_source',
  summary: 'Create a traffic source',
  description: 'From a template or from its own parameters. Sent fields override the template.',
  body: TrafficSourceDraft,
  reply: TrafficSource,
  status: 201,
  refuses: ['already_exists', 'invalid_request'],
})

export const updateTrafficSource = endpoint({
  route: 'PATCH /api/traffic-sources/:id',
  access: { session: 'admin' },
  history: 'traffic_source',
  summary: 'Change a traffic source',
  description:
    'Fields that are not sent do not change. Applies from the next click of its campaigns. Links in running ads do not change.',
  body: TrafficSourceChanges,
  reply: TrafficSource,
  refuses: ['object_not_found', 'already_exists'],
})

export const deleteTrafficSource = endpoint({
  route: 'DELETE /api/traffic-sources/:id',
  access: { session: 'admin' },
  history: 'traffic_source',
  summary: 'Delete a traffic source that no campaign uses',
  reply: Done,
  refuses: ['object_not_found', 'traffic_source_in_use'],
})

export const setTrafficSourceTags = tagsEndpoint(
  'PUT /api/traffic-sources/:id/tags',
  'traffic_source',
  'a traffic source',
)
export const setTrafficSourceNote = noteEndpoint(
  'PUT /api/traffic-sources/:id/note',
  'traffic_source',
  'a traffic source',
)
