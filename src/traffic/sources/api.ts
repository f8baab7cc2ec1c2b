/** Traffic sources over HTTP: under which names and macros a source sends what it knows of a click. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, FAITHFUL, Id, Instant, Name, Page } from '../../contract/fields.ts'
import { paging, Search } from '../../contract/paging.ts'
import { SOURCE_FIELDS } from '../campaigns/api.ts'

/** What a source may fill. What a click cost is not of its 21 fields: it stands in the address, and is read apart. */
export const FILLED_FIELDS = [...SOURCE_FIELDS, 'cost', 'currency'] as const
export type FilledField = (typeof FILLED_FIELDS)[number]

const MOST_PARAMETERS = 14

const SourceParameter = z
  .object({
    field: z.enum(FILLED_FIELDS),
    parameter: z.string().meta({ description: 'The name it arrives under' }),
    macro: z.string().nullable().meta({
      description:
        'What stands in the address for the source to replace; null: the source appends the parameter by itself. A plain word of letters, digits, dots and hyphens is no macro but a constant',
    }),
    label: z.string().nullable().meta({ description: 'What the source calls it' }),
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

/** Why the parameters cannot stand together, each with its place. */
function* clashes(parameters: readonly SourceParameter[]): Generator<[at: number, name: string, message: string]> {
  const names = new Map<string, FilledField>()
  const fields = new Set<FilledField>()
  for (const [at, { field, parameter }] of parameters.entries()) {
    if (fields.has(field)) yield [at, 'field', `${field} is filled already: a field has one parameter`]
    fields.add(field)
    const taker = names.get(parameter) ?? FILLED_FIELDS.find(other => other === parameter && other !== field)
    if (taker !== undefined) yield [at, 'parameter', `"${parameter}" fills ${taker} already: a name fills one field`]
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
  .meta({ description: 'One for each field at most; in the order they stand in the address' })

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
      .meta({ description: 'What it was made from; changes of a template do not reach it' }),
    parameters: z.array(SourceParameter),
    cost_unit: CostUnit.nullable().meta({
      description: 'What an amount in the address is: of one click, or of a thousand; null: none comes',
    }),
    cost_currency: z.string().meta({ description: 'Of the amounts, unless the address names another' }),
    postback: z.string().nullable().meta({
      description:
        'What its template knows of the address that it is told conversions by; what begins with YOUR_ is of your account there',
    }),
    campaigns: z.int().min(0).meta({ description: 'Campaigns that name it, archived ones too' }),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'TrafficSource' })
export type TrafficSource = z.output<typeof TrafficSource>

export const TrafficSourceDraft = z.object({
  name: Name(100).meta({ description: 'Unique in the organization' }),
  template: z.string().max(64).nullish().meta({ description: 'Slug of a template, whose facts are copied' }),
  parameters: Parameters.nullish().meta({ description: 'Those of the template unless given' }),
  cost_unit: CostUnit.nullish(),
  cost_currency: Currency.nullish().meta({ description: 'USD, or what the template says, unless given' }),
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
    evidence: z.string().meta({ description: 'Where the facts are from' }),
    is_confirmed: z.boolean().meta({
      description: 'Whether the source itself says so; else it is what another tracker’s template holds',
    }),
    checked_on: z.iso.date(),
  })
  .meta({ id: 'SourceTemplate' })

export const listTrafficSources = endpoint({
  route: 'GET /api/traffic-sources',
  access: { session: 'member' },
  summary: 'List traffic sources, newest first',
  query: z.object({ ...paging, q: Search.meta({ description: 'Part of the name' }) }),
  reply: Page(TrafficSource),
})

export const listSourceTemplates = endpoint({
  route: 'GET /api/traffic-sources/templates',
  access: { session: 'member' },
  summary: 'List what is known of traffic sources',
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
  summary: 'Create a traffic source',
  description: 'From a template, of which what is given takes the place, or by its own parameters.',
  body: TrafficSourceDraft,
  reply: TrafficSource,
  status: 201,
  refuses: ['already_exists', 'invalid_request'],
})

export const updateTrafficSource = endpoint({
  route: 'PATCH /api/traffic-sources/:id',
  access: { session: 'admin' },
  summary: 'Change a traffic source',
  description:
    'Fields that are not sent stay as they are. Holds for the next click of every campaign that names it; addresses in running ads stay what they are.',
  body: TrafficSourceChanges,
  reply: TrafficSource,
  refuses: ['object_not_found', 'already_exists'],
})

export const deleteTrafficSource = endpoint({
  route: 'DELETE /api/traffic-sources/:id',
  access: { session: 'admin' },
  summary: 'Delete a traffic source that no campaign names',
  reply: Done,
  refuses: ['object_not_found', 'traffic_source_in_use'],
})
