/** What a workspace calls its events, and which of them are its conversion, over HTTP. All of it needs a session; no key reaches it. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { EVENT_TYPE_LABELS, EVENT_TYPES, EventType } from '../../contract/event-types.ts'
import { Instant, Name } from '../../contract/fields.ts'

/** Those that mean what a workspace makes of them. The others say what they are, and rungs of the funnel are called after them. */
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
 * What counts where no goal is chosen and no offer names the types it pays for: every type that a network or a shop may pay for. Steps on the way,
 * such as landings and bot starts, are not among them.
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
  .meta({ description: 'The types of events that count as the conversion: CR and CPA follow them' })

/** Which of two types that would be called alike comes second, where there are any. */
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
  .meta({ description: 'By type; what is left out is called by its own name' })

export const EventSettings = z
  .object({
    names: z.partialRecord(z.enum(NAMED_TYPES), z.string()),
    goal: z
      .array(EventType)
      .nullable()
      .meta({ description: 'null: no goal is chosen, and each campaign counts the types that its offers pay for' }),
    updated_at: Instant.nullable(),
    updated_by: z.string().nullable().meta({ description: 'The name of whoever changed it last' }),
  })
  .meta({ id: 'EventSettings' })
export type EventSettings = z.output<typeof EventSettings>

export const EventSettingsDraft = z.object({
  names: Names.superRefine((names, context) => {
    const twice = calledTwice(names)
    if (twice !== undefined)
      context.addIssue({ code: 'custom', path: [twice], message: 'another type of events is called so' })
  }),
  goal: Goal.nullable().meta({ description: 'null: each campaign counts the types that its offers pay for' }),
})

export const readEventSettings = endpoint({
  route: 'GET /api/event-settings',
  access: { session: 'member' },
  summary: 'Read what the workspace calls its events, and which of them are its conversion',
  reply: EventSettings,
})

export const replaceEventSettings = endpoint({
  route: 'PUT /api/event-settings',
  access: { session: 'admin' },
  summary: 'Name events, and say which of them are the conversion',
  description:
    'Replaces both. Names are shown instead of the types’ own wherever the dashboard shows an event; what is sent and received goes by its type as ever. A chosen goal holds for every campaign that names none of its own, for the past as well. Without one a campaign counts the types that its offers pay for.',
  body: EventSettingsDraft,
  reply: EventSettings,
})
