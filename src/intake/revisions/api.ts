/** Revisions over HTTP: status changes of recorded conversions. API keys cannot use these routes; machines use a network's postback URL. */
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
    amount: Money.meta({ description: 'The amount that counts from then on; with pending the amount on hold, else 0' }),
    original_amount: Money.nullable().meta({ description: 'The amount as sent, if it was not in US dollars' }),
    original_currency: z.string().nullable(),
    rate: z.string().nullable().meta({ description: 'US dollars per unit' }),
    reason: z.string().nullable(),
    source: z.enum(['network', 'dashboard', 'import', 'hold', 'browser', 'api']).meta({
      description:
        'hold: the hold of the network ended; browser: put on hold as it was reported; api: confirmed by an API key',
    }),
    network_id: Id.nullable(),
    network_name: z.string().nullable(),
    actor_name: z.string().nullable().meta({ description: 'The person who made the change' }),
    created_at: Instant,
  })
  .meta({ id: 'EventRevision' })
export type EventRevision = z.output<typeof EventRevision>

const currentStatus = {
  event_id: Id,
  status: EventStatus,
  amount: Money.meta({ description: 'The amount that counts; with pending the amount on hold, else 0' }),
}

export const listRevisions = endpoint({
  route: 'GET /api/events/:id/revisions',
  access: { session: 'member' },
  summary: 'List the status changes of a conversion, newest first',
  description:
    'A conversion without revisions is approved with its payout. hold_until: when it is approved automatically, unless its status changes before.',
  reply: z.object({
    ...currentStatus,
    payout: Money.nullable().meta({ description: 'As recorded; never changes' }),
    hold_until: Instant.nullable(),
    data: z.array(EventRevision),
  }),
  refuses: ['object_not_found'],
})

const DOLLARS = /^(\$|us\$)?$/i
/** Enough for a currency of which a million units are a few dollars. */
const MOST_FOREIGN = 999_999_999_999_999
const Dollars = Amount(MAX_PAYOUT)

/** The new status, with an amount where it may have one. */
const revision = {
  status: EventStatus,
  amount: Amount(MOST_FOREIGN)
    .nullish()
    .meta({
      description: `In \`currency\`, only with approved and pending; at most ${MAX_PAYOUT.toLocaleString('en-US')} US dollars. Left out: the amount that counts or is on hold now; after a rejection, the recorded payout`,
    }),
  currency: z
    .string()
    .trim()
    .transform(text => (DOLLARS.test(text) ? USD : text))
    .pipe(Currency)
    .nullish()
    .meta({
      description:
        'Currency of the amount; left out: US dollars. Converted at the rate the conversion was booked by, else at the rate of the current UTC day',
    }),
  reason: Text(REASON_LENGTH).nullish().meta({ description: 'Shown in the history' }),
}

export const RevisionDraft = z.object(revision).superRefine(({ status, amount, currency }, context) => {
  const wrong = (message: string) => context.addIssue({ code: 'custom', path: ['amount'], message })
  if (amount == null) return
  if (!hasAmount(status)) return wrong('is only allowed with approved and pending')
  if ((currency ?? USD) !== USD) return
  const { error } = Dollars.safeParse(amount)
  if (error !== undefined) wrong(error.issues[0]?.message ?? 'is too much')
})
export type RevisionDraft = z.output<typeof RevisionDraft>

export const reviseEvent = endpoint({
  route: 'POST /api/events/:id/revisions',
  access: { session: 'admin' },
  history: { in: 'event' },
  summary: 'Approve, hold, reject or refund a conversion',
  description:
    'Changes the revenue of its click and the report in the same transaction, on the day of the click. Never changed: the event itself, the status of the ' +
    'click, the charge of the person, and deliveries that were sent. For a partial refund, approve it with a smaller amount. Repeating the current ' +
    'status changes nothing.',
  body: RevisionDraft,
  reply: z.object({
    ...currentStatus,
    seq: z.number().int().meta({ description: 'Number of the last revision; 0: none' }),
    unchanged: z.boolean().meta({ description: 'True: it already had this status and amount' }),
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

/** The most lines of a file: these take a few transactions, which a caller will wait for. */
export const MOST_LINES = 1000

/** A line of the file and its result. */
const RevisionLine = z
  .object({
    line: z.number().int().meta({ description: 'The line of the file on which it ends, from 1' }),
    fate: z.enum(['changes', 'same', 'wrong']).meta({
      description: 'changes: is revised, or would be; same: already has this status and amount; wrong: see error',
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
  history: { in: 'event' },
  summary: 'Approve, reject or refund many conversions from a CSV file',
  description: `Columns: event_id, or click_id with transaction_id if the click has several conversions; status; optionally amount, currency and reason. At most ${MOST_LINES.toLocaleString('en-US')} lines. If a line is wrong, nothing is changed. Sending the same file again changes nothing.`,
  body: z.object({
    csv: z
      .string()
      .min(1)
      .meta({ description: 'The text of the file, with commas, semicolons or tabs between the columns' }),
    dry_run: z.boolean().meta({ description: 'True: only previews each line' }),
  }),
  reply: z.object({
    dry_run: z.boolean(),
    lines: z.array(RevisionLine),
    changed: z.number().int(),
    wrong: z
      .number()
      .int()
      .meta({ description: 'Number of wrong lines, which keep the whole file from being imported' }),
    difference: z.string().meta({ description: 'Change of revenue in US dollars, with a sign', examples: ['-120.50'] }),
  }),
  refuses: ['revision_file_unreadable', 'revision_lines_wrong', 'service_unavailable'],
})
