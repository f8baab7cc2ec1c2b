/** Filters that the lists of clicks and of conversions share. */
import { z } from 'zod'
import { EventType } from './event-types.ts'
import { Amount, FAITHFUL, Id } from './fields.ts'

/** The longest click id of a traffic source that a click stores. */
const SOUGHT_LENGTH = 512

/** Above any sum of payouts. */
const MOST_MONEY = 1_000_000_000

/** Signs that people copy along with an id. */
const AROUND = /[\s"'`“”„«»]/

/** A pasted text without the spaces and quotes around it. Sign by sign, because a pattern for the end takes long for many signs inside. */
export function unquoted(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && AROUND.test(text.charAt(from))) from += 1
  while (to > from && AROUND.test(text.charAt(to - 1))) to -= 1
  return text.slice(from, to)
}

export const sought = {
  q: z
    .string()
    .overwrite(unquoted)
    .max(SOUGHT_LENGTH)
    .refine(...FAITHFUL)
    .optional()
    .meta({
      description:
        'Exactly a click id (in any case and form), a transaction id (nonce) or the click id of the traffic source (ref_id)',
    }),
  network_id: Id.optional().meta({ description: 'Reported by this network' }),
  traffic_source_id: Id.optional().meta({ description: 'Of campaigns that have this traffic source now' }),
  offer_id: Id.optional(),
  landing_id: Id.optional(),
  tag_id: Id.optional().meta({ description: 'The tag of the campaign, the offer or the landing' }),
  type: EventType.optional().meta({ description: 'The type of the conversion; of clicks: of one of its conversions' }),
  payout_from: Amount(MOST_MONEY)
    .optional()
    .meta({ description: 'Inclusive, of the amount of a conversion or the revenue of a click' }),
  payout_to: Amount(MOST_MONEY).optional().meta({ description: 'Inclusive' }),
}
