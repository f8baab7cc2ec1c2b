/** The endpoints of event settings: a workspace's names for event types, and its goal. Only for sessions, not for API keys. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { EVENT_TYPE_LABELS, EVENT_TYPES, EventType } from '../../contract/event-types.ts'
import { Instant, Name } from '../../contract/fields.ts'

/** The types that a workspace can name. The others have a fixed meaning, and the steps of the funnel are named after them. */
export const NAMED_TYPES = [
  'purchase',
  'subscription_renewed',
  'subscription_cancelled',
  'custom_1',
  'custom_2',
  'custom_3',
  'custom_4',
  'custom_5',
  'custom_6',
  'custom_7',
  'custom_8',
] as const satisfies readonly EventType[]

/**
 * The goal if none is chosen and no offer names the types it pays on: every type that a network or a shop may pay for. Earlier steps, such as
 * landings and bot starts, do not count.
 */
export const USUAL_GOAL: readonly EventType[] = EVENT_TYPES.filter(
  type =>
    ['lead', 'registration', 'deposit', 'ftd', 'purchase', 'subscription_renewed'].includes(type) ||
    type.startsWith('custom_'),
)

const NAME_LENGTH = 40

export const Goal = z
  .array(EventType)
  .min(1, { message: 'must name a type of events' })
  .max(EVENT_TYPES.length)
  .refine(types => new Set(types).size === types.length, { message: 'names a type twice' })
  .meta({ description: 'The event types that CR and CPA count' })

/** The second of two types with the same name, if there are any. */
function calledTwice(names: Readonly<Record<string, string>>): string | undefined {
  const called = new Set<string>()
  const given = EVENT_TYPES.filter(type => names[type] !== undefined)
  const own = EVENT_TYPES.filter(type => names[type] === undefined)
  for (const type of own) called.add(EVENT_TYPE_LABELS[type].toLowerCase())
  for (const type of given) {
    const name = names[type]?.toLowerCase() ?? ''
    if (called.has(name)) return type
    called.add(name)
  }
  return undefined
}

const Names = z
  .partialRecord(z.enum(NAMED_TYPES), Name(NAME_LENGTH))
  .meta({ description: 'Names by type; missing types keep their original names' })

export const EventSettings = z
  .object({
    names: z.partialRecord(z.enum(NAMED_TYPES), z.string()),
    goal: z
      .array(EventType)
      .nullable()
      .meta({ description: 'null: each campaign counts the types that its offers pay on' }),
    updated_at: Instant.nullable(),
    updated_by: z.string().nullable().meta({ description: 'The name of the person who changed it last' }),
  })
  .meta({ id: 'EventSettings' })
export type EventSettings = z.output<typeof EventSettings>

export const EventSettingsDraft = z.object({
  names: Names.superRefine((names, context) => {
    const twice = calledTwice(names)
    if (twice !== undefined)
      context.addIssue({ code: 'custom', path: [twice], message: 'another event type has this name' })
  }),
  goal: Goal.nullable().meta({ description: 'null: each campaign counts the types that its offers pay for' }),
})

export const readEventSettings = endpoint({
  route: 'GET /api/event-settings',
  access: { session: 'member' },
  summary: 'Read the names of event types and the goal',
  reply: EventSettings,
})

export const replaceEventSettings = endpoint({
  route: 'PUT /api/event-settings',
  access: { session: 'admin' },
  history: 'event_settings',
  summary: 'Set the names of event types and the goal',
  description:
    'Replaces both. Names are shown instead of the types’ own wherever the dashboard shows an event; what is sent and received goes by its type as ever. A chosen goal holds for every campaign that names none of its own, for the past as well. Without one a campaign counts the types that its offers pay for.',
  body: EventSettingsDraft,
  reply: EventSettings,
})
