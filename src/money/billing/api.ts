/** The organization's balance over HTTP. No right covers it: a key is refused everywhere here. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Amount, Done, FAITHFUL, Id, Instant, Money, Name, wordsOnCommas } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'

const MAX_TOP_UP = 1_000_000
/** Above what any market pays for a person, below what a slip of the hand writes. */
const MAX_PRICE = 1000

/** One entry of the ledger. Charges are negative and name the event that met the person first. */
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

/** An entry as it is read: a charge with the conversion that met the person first. */
export const ReadEntry = LedgerEntry.extend({
  event_type: EventType.nullable(),
  click_id: Id.nullable().meta({ description: 'The click of the event' }),
}).meta({ id: 'ReadEntry' })
export type ReadEntry = z.output<typeof ReadEntry>

const Balance = Money.meta({ description: 'May be below zero: an empty balance refuses nothing' })
const Threshold = Money.nullable().meta({
  description: 'Members are warned while the balance is below it; null: never',
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
    deliveries_held: z.number().int().meta({ description: 'How many wait now' }),
    low_balance_threshold: Threshold,
    data: z.array(ReadEntry),
    next_cursor: z.string().nullable(),
  }),
})

/** What a person enters once: a resend with the same nonce answers the first entry. */
const Nonce = z
  .string()
  .min(1)
  .max(128)
  .refine(...FAITHFUL)
  .nullish()
  .meta({ description: 'Your own name of this entry: sent again with the same one, nothing is entered twice' })

const Entered = LedgerEntry.extend({ balance: Money.meta({ description: 'The balance now' }) }).meta({
  id: 'EnteredEntry',
})
const ENTERED_ONCE =
  'With a `nonce` the entry is made once: sent again, the first one is answered, with `Idempotent-Replayed: true`. Top-ups and adjustments ' +
  'share their nonces: the one of an entry of the other kind is refused.'

export const topUpBalance = endpoint({
  route: 'POST /api/billing/top-ups',
  access: { session: 'owner' },
  summary: 'Add to the balance',
  description: `Writes down what was paid elsewhere. ${ENTERED_ONCE}`,
  body: z.object({
    amount: Amount(MAX_TOP_UP).refine(amount => amount !== '0', { message: 'must be more than 0' }),
    note: Name(500).nullish(),
    nonce: Nonce,
  }),
  reply: Entered,
  status: 201,
  headers: ['Idempotent-Replayed'],
  refuses: ['already_exists'],
})

const SIGNED = `must be a number or a decimal string from -${MAX_TOP_UP} to ${MAX_TOP_UP}, and not 0`

/** A sum to add, or with a minus to take. */
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
  summary: 'Correct the balance',
  description: `The ledger only grows, so what was entered wrongly is put right by an entry against it, with its reason. ${ENTERED_ONCE}`,
  body: z.object({ amount: SignedAmount, note: Name(500), nonce: Nonce }),
  reply: Entered,
  status: 201,
  headers: ['Idempotent-Replayed'],
  refuses: ['already_exists'],
})

export const setPrice = endpoint({
  route: 'PUT /api/billing/price-per-person',
  access: { session: 'owner' },
  summary: 'Set what a person costs from now on',
  description: 'Persons charged before keep the price they were charged at.',
  body: z.object({ price_per_person: Amount(MAX_PRICE) }),
  reply: Done,
})

export const setHolding = endpoint({
  route: 'PUT /api/billing/hold-when-empty',
  access: { session: 'owner' },
  summary: 'Hold deliveries while the balance is below zero, or stop holding them',
  body: z.object({ hold_when_empty: z.boolean() }),
  reply: Done,
})

export const setLowBalance = endpoint({
  route: 'PUT /api/billing/low-balance',
  access: { session: 'owner' },
  summary: 'Set below which balance the members are warned and the owners get a mail, or null for never',
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
        'low: below the threshold; empty: below zero. Without a price only that deliveries wait is told, as empty',
    }),
    is_charging: z
      .boolean()
      .meta({ description: 'Whether a person costs something; else screens show nothing of billing' }),
    balance: Balance,
    low_balance_threshold: Threshold,
    hold_when_empty: z.boolean(),
  }),
})
