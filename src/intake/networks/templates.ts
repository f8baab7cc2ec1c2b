/**
 * How the networks of the field speak: the parameters their postbacks bring, the macros they fill in, the words they use. Starting
 * points, copied into a network when it is made, and changed there (reference: docs/networks.md).
 */
import {
  BY_OFFER,
  type Field,
  HELD,
  type ParameterMap,
  type StatusMap,
  type StatusMeaning,
  type TemplateName,
} from './api.ts'
import type { Reading } from './read-call.ts'

export type Template = Omit<Reading, 'currency' | 'convert'> & {
  /** What the network writes in its place, for the fields it can tell. */
  readonly macros: Partial<Record<Field, string>>
  /** Parameters beyond one for each field. */
  readonly also?: string
  /** The parameter of the offer's address that the network hands back. */
  readonly offer_parameter: string
}

/** Whatever the network calls it, it is understood: the names of every tracker and network that were counted. */
const KNOWN_NAMES: ParameterMap = {
  click_id: [
    'click_id',
    'clickid',
    'subid',
    'sub_id',
    'cid',
    'cnv_id',
    'aff_click_id',
    'sub1',
    'aff_sub',
    'hit',
    'transaction_id',
  ],
  payout: ['payout', 'revenue', 'sum', 'amount', 'payout_amount', 'profit'],
  transaction_id: [
    'txid',
    'tid',
    'transaction_id',
    'transactionid',
    'order_id',
    'oid',
    'conversion_id',
    'lead_id',
    'tx',
    'eid',
  ],
  status: ['status', 'goal', 'event', 'type', 'event_name', 'et', 'cnv_status'],
  currency: ['currency', 'cur', 'cnv_currency'],
  telegram_user_id: ['telegram_user_id', 'tg_id'],
}

/** The common names behind those that this network puts first. */
function named(first: Partial<ParameterMap>): ParameterMap {
  const names = Object.entries(KNOWN_NAMES).map(([field, known]) => {
    return [field, [...new Set([...(first[field as Field] ?? []), ...known])]] as const
  })
  return Object.fromEntries(names) as ParameterMap
}

const to = (meaning: StatusMeaning, words: readonly string[]): StatusMap =>
  Object.fromEntries(words.map(word => [word, meaning]))

/** Words for what was taken back: verdicts on what is recorded. */
const REFUSED = to('!reject', [
  'rejected',
  'reject',
  'declined',
  'decline',
  'trash',
  'spam',
  'invalid',
  'cancelled',
  'canceled',
  'cancel',
  'duplicate',
])
const TAKEN_BACK: StatusMap = {
  ...REFUSED,
  ...to('!refund', ['refund', 'refunded', 'reversed']),
  ...to('!chargeback', ['chargeback']),
}
/** Words for what is not decided: held until a paid word of the same transaction approves it. */
const HOLDS = to(`${HELD}${BY_OFFER}`, ['pending', 'hold', 'wait', 'waiting', 'new', 'processing'])
/** Words that say that something is paid and not what it is, then those that name a sale. */
const PAID: StatusMap = {
  ...to(BY_OFFER, ['approved', 'approve', 'confirmed', 'confirm', 'accepted', 'paid']),
  ...to('purchase', ['sale', 'rebill', 'upsell', 'order']),
}
const STEPS: StatusMap = {
  ...to('registration', ['registration', 'reg', 'register', 'signup', 'sign_up']),
  ...to('lead', ['lead', 'install']),
  ...to('ftd', ['ftd', 'first_deposit', 'firstdep', 'first_dep']),
  ...to('deposit', ['deposit', 'dep', 'redeposit', 'rd']),
}

export const TEMPLATES: Readonly<Record<TemplateName, Template>> = {
  keitaro: {
    parameters: named({ click_id: ['subid'], transaction_id: ['tid'] }),
    macros: {
      click_id: '{subid}',
      payout: '{payout}',
      transaction_id: '{transaction_id}',
      status: '{status}',
      currency: '{currency}',
    },
    statuses: { ...STEPS, ...PAID, ...TAKEN_BACK, ...HOLDS },
    default_type: 'purchase',
    unpaid_types: ['lead'],
    offer_parameter: 'subid={click_id}',
  },
  everflow: {
    parameters: named({ click_id: ['sub1'], transaction_id: ['txid'], status: ['event'] }),
    macros: {
      click_id: '{sub1}',
      payout: '{payout_amount}',
      transaction_id: '{transaction_id}',
      status: '{event_name}',
    },
    statuses: {
      ...STEPS,
      ...PAID,
      ...TAKEN_BACK,
      ...HOLDS,
      ...to(BY_OFFER, ['conversion', 'base', 'default']),
    },
    default_type: 'lead',
    unpaid_types: [],
    offer_parameter: 'sub1={click_id}',
  },
  affise: {
    parameters: named({
      click_id: ['clickid', 'sub1'],
      payout: ['sum'],
      transaction_id: ['txid'],
      status: ['goal', 'status'],
    }),
    macros: {
      click_id: '{sub1}',
      payout: '{sum}',
      transaction_id: '{transactionid}',
      status: '{goal}',
      currency: '{currency}',
    },
    also: 'status={status}',
    statuses: {
      ...STEPS,
      ...PAID,
      ...TAKEN_BACK,
      ...HOLDS,
      // A goal may be a number too.
      'status=1': BY_OFFER,
      'status=2': `${HELD}${BY_OFFER}`,
      'status=3': '!reject',
      'status=5': `${HELD}${BY_OFFER}`,
    },
    default_type: null,
    unpaid_types: [],
    offer_parameter: 'sub1={click_id}',
  },
  tune: {
    parameters: named({ click_id: ['aff_sub'], transaction_id: ['txid'], status: ['goal'] }),
    macros: { click_id: '{aff_sub}', payout: '{payout}', transaction_id: '{transaction_id}', currency: '{currency}' },
    statuses: { ...STEPS, ...PAID, ...TAKEN_BACK, ...HOLDS },
    default_type: 'lead',
    unpaid_types: [],
    offer_parameter: 'aff_sub={click_id}',
  },
  plain: {
    parameters: named({}),
    macros: {
      click_id: '{click_id}',
      payout: '{payout}',
      transaction_id: '{transaction_id}',
      status: '{status}',
      currency: '{currency}',
    },
    statuses: { ...STEPS, ...PAID, ...TAKEN_BACK, ...HOLDS },
    default_type: 'lead',
    unpaid_types: [],
    offer_parameter: 'click_id={click_id}',
  },
}
