/** The audience of a message among a bot's subscribers, and hours of a day. */
import { z } from 'zod'
import { EVENT_TYPES } from './event-types.ts'
import { Id, Instant } from './fields.ts'
import { TimeZone } from './time-zones.ts'

/** A time of day. */
export const Clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { message: 'must be a time of day, such as 09:30' })
export const HoursOfDay = z
  .strictObject({ from: Clock, to: Clock, time_zone: TimeZone })
  .meta({ id: 'HoursOfDay', description: 'Hours of a day in a time zone; 22:00 to 08:00 goes over midnight' })
export type HoursOfDay = z.output<typeof HoursOfDay>

const list = <Item extends z.ZodType>(item: Item, most: number) => z.array(item).min(1).max(most)

const ids = list(Id, 100)
const words = (longest: number) => list(z.string().trim().min(1).max(longest), 100)
const states = list(z.enum(['reachable', 'blocked', 'gone', 'unreachable', 'opted_out']), 5)
const events = list(z.enum(EVENT_TYPES), EVENT_TYPES.length)
export const Country = z.string().regex(/^[A-Z]{2}$/, { message: 'must be a country in two letters, such as DE' })
const countries = list(Country, 250)

/** Subscribers of a bot who meet all conditions. */
export const Audience = z
  .strictObject({
    states: states.optional().meta({
      description: 'By default reachable. opted_out: also those who asked for no more broadcasts',
    }),
    campaigns: ids.optional().meta({ description: 'Their click belongs to one of these campaigns' }),
    channels: z
      .strictObject({
        in: ids.optional().meta({ description: 'They are in one of these channels' }),
        not_in: ids.optional().meta({ description: 'They are in none of these channels' }),
      })
      .optional(),
    has_event: events.optional().meta({ description: 'Their click has a conversion of one of these types' }),
    has_no_event: events.optional().meta({ description: 'Their click has no conversion of these types' }),
    started_from: Instant.optional().meta({ description: 'Their newest start is at or after this time' }),
    started_to: Instant.optional().meta({ description: 'Their newest start is before this time' }),
    geo: countries.optional().meta({ description: 'Their click came from one of these countries' }),
    sub1: words(500).optional().meta({ description: 'The sub1 of their click is one of these' }),
    language: words(35)
      .optional()
      .meta({ description: 'Language of their Telegram app, such as en, which includes en-gb' }),
    not_broadcast_id: Id.optional().meta({ description: 'They did not get this broadcast' }),
    quiet_hours: HoursOfDay.optional().meta({ description: 'Hours in which nothing is sent' }),
  })
  .meta({ id: 'Audience' })
export type Audience = z.output<typeof Audience>

/** The fault of the form that was sent: a list or a single value. */
function wordsOfForm({
  input,
  code,
  ...issue
}: {
  readonly input?: unknown
  readonly code?: string
}): string | undefined {
  const errors = code === 'invalid_union' ? (issue as { errors?: z.core.$ZodIssue[][] }).errors : undefined
  return errors?.[Array.isArray(input) ? 0 : 1]?.[0]?.message
}

/** Accepts a list, or a single value instead of it. */
const orOne = <Item extends z.ZodType>(asked: z.ZodOptional<z.ZodArray<Item>>) => {
  const several = asked.unwrap()
  const forms = [several, several.element.transform(one => [one])] as const
  const either = z.union(forms, { error: wordsOfForm }).optional()
  return asked.description === undefined ? either : either.meta({ description: asked.description })
}
const { states: ofStates, campaigns, channels, has_event, has_no_event, geo, sub1, language } = Audience.shape
const { in: inside, not_in: outside } = channels.unwrap().shape

/** An audience in a request. A condition that takes several values also takes a single one. */
export const AudienceAsked = Audience.extend({
  states: orOne(ofStates),
  campaigns: orOne(campaigns),
  channels: z.strictObject({ in: orOne(inside), not_in: orOne(outside) }).optional(),
  has_event: orOne(has_event),
  has_no_event: orOne(has_no_event),
  geo: orOne(geo),
  sub1: orOne(sub1),
  language: orOne(language),
}).meta({ id: 'AudienceAsked' })
