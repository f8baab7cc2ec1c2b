/** The organization's balance over HTTP. No right covers it: a key is refused everywhere here. */
import { z } from 'zod'
import { endpoint } from '../contract/endpoint.ts'
import { Amount, Done, Id, Instant, Money, Name } from '../contract/fields.ts'
import { paging } from '../contract/paging.ts'

export const MAX_TOP_UP = 1_000_000

/** One entry of the ledger. Charges are negative and name the event that met the person first. */
export const LedgerEntry = z.object({
  id: Id,
  kind: z.enum(['charge', 'top_up', 'adjustment']),
  amount: Money,
  event_id: Id.nullable(),
  note: z.string().nullable(),
  created_at: Instant,
})
export type LedgerEntry = z.output<typeof LedgerEntry>

export const readBilling = endpoint({
  route: 'GET /api/billing',
  access: { session: 'member' },
  summary: 'Read the balance, the price and the ledger, newest entries first',
  query: z.object(paging),
  reply: z.object({
    balance: Money.meta({ description: 'May be below zero: an empty balance refuses nothing' }),
    price_per_person: Money,
    persons_charged: z.number().int(),
    hold_when_empty: z.boolean().meta({ description: 'Deliveries wait while the balance is below zero' }),
    data: z.array(LedgerEntry),
    next_cursor: z.string().nullable(),
  }),
})

export const topUpBalance = endpoint({
  route: 'POST /api/billing/top-ups',
  access: { session: 'owner' },
  summary: 'Add to the balance',
  body: z.object({
    amount: Amount(MAX_TOP_UP).refine(amount => amount !== '0', { message: 'must be more than 0' }),
    note: Name(500).nullish(),
  }),
  reply: LedgerEntry.extend({ balance: Money.meta({ description: 'The balance after it' }) }),
  status: 201,
})

export const setHolding = endpoint({
  route: 'PUT /api/billing/hold-when-empty',
  access: { session: 'owner' },
  summary: 'Hold deliveries while the balance is below zero, or stop holding them',
  body: z.object({ hold_when_empty: z.boolean() }),
  reply: Done,
})
