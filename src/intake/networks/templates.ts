/**
 * Templates of common networks: the parameters of their postbacks, their macros, and their statuses. A template is copied into a network when the
 * network is created, and can be changed there (reference: docs/networks.md).
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
import type { NetworkMaps } from './read-call.ts'

export type NetworkTemplate = Omit<NetworkMaps, 'currency' | 'convert'> & {
  /** The network's macro for each field that it can send. */
  readonly macros: Partial<Record<Field, string>>
  /** A further parameter of the postback URL. */
  readonly also?: string
  /** The parameter of the offer's URL that the network sends back. */
  readonly offer_parameter: string
}

/** The parameter names that trackers and networks use for each field; every template understands them all. */
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

/** All known names of each field, with this network's own names first. */
function parametersOf(first: Partial<ParameterMap>): ParameterMap {
  const names = Object.entries(KNOWN_NAMES).map(([field, known]) => {
    return [field, [...new Set([...(first[field as Field] ?? []), ...known])]] as const
  })
  return Object.fromEntries(names) as ParameterMap
}

const statusesFor = (meaning: StatusMeaning, statuses: readonly string[]): StatusMap =>
  Object.fromEntries(statuses.map(status => [status, meaning]))

/** Statuses that take a recorded conversion back. */
const REFUSED = statusesFor('!reject', [
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
  ...statusesFor('!refund', ['refund', 'refunded', 'reversed']),
  ...statusesFor('!chargeback', ['chargeback']),
}
/** Statuses of undecided conversions: held until a paid status of the same transaction approves them. */
const HOLDS = statusesFor(`${HELD}${BY_OFFER}`, ['pending', 'hold', 'wait', 'waiting', 'new', 'processing'])
/** Paid statuses: first those that name no event, then those that name a sale. */
const PAID: StatusMap = {
  ...statusesFor(BY_OFFER, ['approved', 'approve', 'confirmed', 'confirm', 'accepted', 'paid']),
  ...statusesFor('purchase', ['sale', 'rebill', 'upsell', 'order']),
}
const STEPS: StatusMap = {
  ...statusesFor('registration', ['registration', 'reg', 'register', 'signup', 'sign_up']),
  ...statusesFor('lead', ['lead', 'install']),
  ...statusesFor('ftd', ['ftd', 'first_deposit', 'firstdep', 'first_dep']),
  ...statusesFor('deposit', ['deposit', 'dep', 'redeposit', 'rd']),
}

export const TEMPLATES: Readonly<Record<TemplateName, NetworkTemplate>> = {
  keitaro: {
    parameters: parametersOf({ click_id: ['subid'], transaction_id: ['tid'] }),
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
    parameters: parametersOf({ click_id: ['sub1'], transaction_id: ['txid'], status: ['event'] }),
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
      ...statusesFor(BY_OFFER, ['conversion', 'base', 'default']),
    },
    default_type: 'lead',
    unpaid_types: [],
    offer_parameter: 'sub1={click_id}',
  },
  affise: {
    parameters: parametersOf({
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
      // With the parameter's name, because a goal may be a number too.
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
    parameters: parametersOf({ click_id: ['aff_sub'], transaction_id: ['txid'], status: ['goal'] }),
    macros: { click_id: '{aff_sub}', payout: '{payout}', transaction_id: '{transaction_id}', currency: '{currency}' },
    statuses: { ...STEPS, ...PAID, ...TAKEN_BACK, ...HOLDS },
    default_type: 'lead',
    unpaid_types: [],
    offer_parameter: 'aff_sub={click_id}',
  },
  plain: {
    parameters: parametersOf({}),
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
