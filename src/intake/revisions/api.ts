/** What is said of conversions after they were recorded, over HTTP. No right covers it: by machine a network's address does it. */
import { z } from 'zod'
import { Currency, USD } from '../../contract/currencies.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { Amount, Id, Instant, MAX_PAYOUT, Money, Text } from '../../contract/fields.ts'
import { hasAmount, MOST_REVISIONS, REASON_LENGTH } from '../../contract/revisions.ts'
import { EventStatus } from '../events/api.ts'

export const EventRevision = z
  .object({
    seq: z
      .number()
      .int()
      .meta({ description: `1 to ${MOST_REVISIONS}` }),
    status: EventStatus,
    amount: Money.meta({ description: 'What counts from then on, of pending what is on hold, else 0' }),
    original_amount: Money.nullable().meta({ description: 'As it was said, where that was not US dollars' }),
    original_currency: z.string().nullable(),
    rate: z.string().nullable().meta({ description: 'US dollars per unit' }),
    reason: z.string().nullable(),
    source: z.enum(['network', 'dashboard', 'import', 'hold']).meta({
      description: 'hold: the hold period of the network was over',
    }),
    network_id: Id.nullable(),
    network_name: z.string().nullable(),
    actor_name: z.string().nullable().meta({ description: 'The person who did it' }),
    created_at: Instant,
  })
  .meta({ id: 'EventRevision' })
export type EventRevision = z.output<typeof EventRevision>

const standing = {
  event_id: Id,
  status: EventStatus,
  amount: Money.meta({ description: 'What counts, of pending what is on hold, else 0' }),
}

export const listRevisions = endpoint({
  route: 'GET /api/events/:id/revisions',
  access: { session: 'member' },
  summary: 'Read what was said of a conversion after it was recorded, newest first',
  description:
    'Without revisions a conversion is approved with its payout. hold_until: when it is approved by itself unless something else is said before.',
  reply: z.object({
    ...standing,
    payout: Money.nullable().meta({ description: 'As it was recorded; that row never changes' }),
    hold_until: Instant.nullable(),
    data: z.array(EventRevision),
  }),
  refuses: ['object_not_found'],
})

const DOLLARS = /^(\$|us\$)?$/i
/** Of a currency of which a million are a few dollars. */
const MOST_FOREIGN = 999_999_999_999_999
const Dollars = Amount(MAX_PAYOUT)

/** A status, and an amount where it has one. */
const said = {
  status: EventStatus,
  amount: Amount(MOST_FOREIGN)
    .nullish()
    .meta({
      description: `In its currency, only with approved and pending; at most ${MAX_PAYOUT.toLocaleString('en-US')} US dollars. Left out: what counts or is on hold now, after a refusal the recorded payout`,
    }),
  currency: z
    .string()
    .trim()
    .transform(text => (DOLLARS.test(text) ? USD : text))
    .pipe(Currency)
    .nullish()
    .meta({
      description:
        'Of the amount; left out: US dollars. By the rate the conversion was booked by in it, else by that of the UTC day it is said',
    }),
  reason: Text(REASON_LENGTH).nullish().meta({ description: 'Shown in its history' }),
}

export const Said = z.object(said).superRefine(({ status, amount, currency }, context) => {
  const wrong = (message: string) => context.addIssue({ code: 'custom', path: ['amount'], message })
  if (amount == null) return
  if (!hasAmount(status)) return wrong('goes with approved and pending only: all else is worth nothing')
  if ((currency ?? USD) !== USD) return
  const { error } = Dollars.safeParse(amount)
  if (error !== undefined) wrong(error.issues[0]?.message ?? 'is too much')
})
export type Said = z.output<typeof Said>

export const reviseEvent = endpoint({
  route: 'POST /api/events/:id/revisions',
  access: { session: 'admin' },
  summary: 'Approve, hold, reject or refund a conversion',
  description:
    'The revenue of its click and the report follow in the same moment, in the day of the click. Never undone: the event itself, the status of the ' +
    'click, the charge of the person, and what was delivered. A partial refund is approved with a smaller amount. Saying what is so already ' +
    'changes nothing.',
  body: Said,
  reply: z.object({
    ...standing,
    seq: z.number().int().meta({ description: 'Of the last revision; 0: there is none' }),
    unchanged: z.boolean().meta({ description: 'True: it stood like that already' }),
  }),
  refuses: [
    'object_not_found',
    'rate_unknown',
    'amount_too_large',
    'too_many_revisions',
    'click_not_kept',
    'service_unavailable',
  ],
})

/** Of one file: so many are decided in a few transactions, within a caller's patience. */
export const MOST_LINES = 1000

/** A line of the file and what becomes of it. */
const RevisionLine = z
  .object({
    line: z.number().int().meta({ description: 'The line of the file it ends on, the first is 1' }),
    fate: z.enum(['changes', 'same', 'wrong']).meta({
      description: 'changes: is, or would be, revised; same: stands like that already; wrong: see error',
    }),
    event_id: Id.nullable(),
    click_id: Id.nullable(),
    before: z.object({ status: EventStatus, amount: Money }).nullable(),
    becomes: z.object({ status: EventStatus, amount: Money }).nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'RevisionLine' })
export type RevisionLine = z.output<typeof RevisionLine>

export const importRevisions = endpoint({
  route: 'POST /api/events/revisions/import',
  access: { session: 'admin' },
  summary: 'Approve, reject or refund many conversions from a CSV file',
  description: `Titles: event_id, or click_id with transaction_id where the click has several conversions; status; amount, currency and reason where they are needed. At most ${MOST_LINES.toLocaleString('en-US')} lines. With a wrong line nothing is changed. Each line is its own change: the same file again changes nothing.`,
  body: z.object({
    csv: z.string().min(1).meta({ description: 'The text of the file: comma, semicolon or tab between the columns' }),
    dry_run: z.boolean().meta({ description: 'True: only tells what would become of each line' }),
  }),
  reply: z.object({
    dry_run: z.boolean(),
    lines: z.array(RevisionLine),
    changed: z.number().int(),
    wrong: z.number().int().meta({ description: 'Lines that keep the file from going in' }),
    difference: z
      .string()
      .meta({ description: 'What revenue grows by, US dollars with a sign', examples: ['-120.50'] }),
  }),
  refuses: ['revision_file_unreadable', 'revision_lines_wrong', 'service_unavailable'],
})
