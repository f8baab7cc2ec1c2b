/** Billing over HTTP: the organization's balance, price and ledger. Sessions only: no right of keys covers these routes. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Amount, Done, FAITHFUL, Id, Instant, Money, Name, wordsOnCommas } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'

const MAX_TOP_UP = 1_000_000
/** Above any market's price for a person, low enough to catch a typing error. */
const MAX_PRICE = 1000

/** One entry of the ledger. Charges are negative and name the event that first reported the person. */
export const LedgerEntry = z
  .object({
    id: Id,
    kind: z.enum(['charge', 'top_up', 'adjustment']),
    amount: Money,
    event_id: Id.nullable(),
    note: z.string().nullable(),
    created_at: Instant,
  })
  .meta({ id: 'LedgerEntry' })
export type LedgerEntry = z.output<typeof LedgerEntry>

/** A ledger entry as it is listed. A charge has the conversion that first reported the person. */
export const ReadEntry = LedgerEntry.extend({
  event_type: EventType.nullable(),
  click_id: Id.nullable().meta({ description: 'The click of the event' }),
}).meta({ id: 'ReadEntry' })
export type ReadEntry = z.output<typeof ReadEntry>

const Balance = Money.meta({ description: 'May be below zero: conversions are recorded all the same' })
const Threshold = Money.nullable().meta({
  description: 'Members see a warning while the balance is below it; null: no warning',
})

export const readBilling = endpoint({
  route: 'GET /api/billing',
  access: { session: 'member' },
  summary: 'Read the balance, the price and the ledger, newest entries first',
  query: z.object({
    ...paging,
    kind: LedgerEntry.shape.kind.optional().meta({ description: 'Only entries of this kind' }),
  }),
  reply: z.object({
    balance: Balance,
    price_per_person: Money,
    persons_charged: z.number().int(),
    hold_when_empty: z.boolean().meta({ description: 'Deliveries wait while the balance is below zero' }),
    deliveries_held: z.number().int().meta({ description: 'How many deliveries are waiting now' }),
    low_balance_threshold: Threshold,
    data: z.array(ReadEntry),
    next_cursor: z.string().nullable(),
  }),
})

/** Makes an entry idempotent: a resend with the same nonce returns the first entry. */
const Nonce = z
  .string()
  .min(1)
  .max(128)
  .refine(...FAITHFUL)
  .nullish()
  .meta({ description: 'A name you choose for this entry: sent again with the same nonce, it is not entered twice' })

const EnteredEntry = LedgerEntry.extend({ balance: Money.meta({ description: 'The balance now' }) }).meta({
  id: 'EnteredEntry',
})
const ENTERED_ONCE =
  'With a `nonce` the entry is made once: sent again, the answer is the first entry, with `Idempotent-Replayed: true`. Top-ups and adjustments ' +
  'share their nonces: a nonce that belongs to an entry of the other kind is refused.'

export const topUpBalance = endpoint({
  route: 'POST /api/billing/top-ups',
  access: { session: 'owner' },
  history: 'billing',
  summary: 'Add to the balance',
  description: `Records a payment that was made elsewhere. ${ENTERED_ONCE}`,
  body: z.object({
    amount: Amount(MAX_TOP_UP).refine(amount => amount !== '0', { message: 'must be more than 0' }),
    note: Name(500).nullish(),
    nonce: Nonce,
  }),
  reply: EnteredEntry,
  status: 201,
  headers: ['Idempotent-Replayed'],
  refuses: ['already_exists'],
})

const SIGNED = `must be a number or a decimal string from -${MAX_TOP_UP} to ${MAX_TOP_UP}, and not 0`

/** An amount to add, or to subtract if it is negative. */
const SignedAmount = z.union([z.number(), z.string()], { error: SIGNED }).transform((sent, context) => {
  const isMinus = typeof sent === 'number' ? sent < 0 : sent.startsWith('-')
  const size = typeof sent === 'number' ? Math.abs(sent) : sent.replace(/^-/, '')
  const read = Amount(MAX_TOP_UP).safeParse(size)
  if (read.success && read.data !== '0') return isMinus ? `-${read.data}` : read.data
  context.addIssue({ code: 'custom', message: wordsOnCommas(String(sent)) ?? SIGNED })
  return z.NEVER
})

export const adjustBalance = endpoint({
  route: 'POST /api/billing/adjustments',
  access: { session: 'owner' },
  history: 'billing',
  summary: 'Correct the balance',
  description: `Ledger entries cannot be changed, so a wrong one is corrected by an opposite entry with its reason. ${ENTERED_ONCE}`,
  body: z.object({ amount: SignedAmount, note: Name(500), nonce: Nonce }),
  reply: EnteredEntry,
  status: 201,
  headers: ['Idempotent-Replayed'],
  refuses: ['already_exists'],
})

export const setPrice = endpoint({
  route: 'PUT /api/billing/price-per-person',
  access: { session: 'owner' },
  history: 'billing',
  summary: 'Set the price per person',
  description: 'Applies to people first reported from now on. Earlier charges stay as they are.',
  body: z.object({ price_per_person: Amount(MAX_PRICE) }),
  reply: Done,
})

export const setHolding = endpoint({
  route: 'PUT /api/billing/hold-when-empty',
  access: { session: 'owner' },
  history: 'billing',
  summary: 'Hold deliveries while the balance is below zero, or stop holding them',
  body: z.object({ hold_when_empty: z.boolean() }),
  reply: Done,
})

export const setLowBalance = endpoint({
  route: 'PUT /api/billing/low-balance',
  access: { session: 'owner' },
  history: 'billing',
  summary: 'Set the balance below which members see a warning and owners get a mail, or null for no warning',
  body: z.object({ low_balance_threshold: Amount(MAX_TOP_UP).nullable() }),
  reply: Done,
})

export const readBalanceNotice = endpoint({
  route: 'GET /api/billing/notice',
  access: { session: 'member' },
  summary: 'Read whether the balance is low or empty',
  reply: z.object({
    state: z.enum(['fine', 'low', 'empty']).meta({
      description:
        'low: below the threshold; empty: below zero. With a price of 0 it is fine, or empty while deliveries wait for a top-up',
    }),
    is_charging: z
      .boolean()
      .meta({ description: 'Whether the price per person is above 0; otherwise screens hide billing' }),
    balance: Balance,
    low_balance_threshold: Threshold,
    hold_when_empty: z.boolean(),
  }),
})
