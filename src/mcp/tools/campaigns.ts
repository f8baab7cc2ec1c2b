/** The tools for campaigns. */
import type { z } from 'zod'
import * as campaigns from '../../traffic/campaigns/api.ts'
import type { Json } from '../derive.ts'
import { type MadeCall, isGiven, leftOut, tool } from '../tool.ts'
import { CREATES, FINAL } from './hints.ts'
import { CAMPAIGN_ID } from './words.ts'

/** The cost without its currency, because tools use US dollars only. */
const COST = {
  type: 'object',
  additionalProperties: false,
  properties: {
    model: { type: 'string', enum: ['none', 'link', 'cpc', 'cpm'] },
    amount: { type: 'string' },
    max: { type: 'string' },
  },
  description: 'USD: cpc per click, cpm per thousand',
}

const fields = {
  name: '',
  key: 'Part of the public address, 3 to 64 of a-z, 0-9, -. Never changes.',
  destination: leftOut('given flat, as destination_offer_id, redirect_url, funnel_id or click_flow_id'),
  offer_id: 'Offer whose payout conversions inherit.',
  fallback_url: 'Address while the destination is unavailable.',
  ad_account_id: 'From the dashboard.',
  traffic_source_id: 'From the dashboard.',
  source: 'Parameter names of the source: {"ref_id": "clickid"}. If omitted: the same names.',
  strict_filter: 'true: HTTP libraries are not counted.',
  cost: leftOut('set by service_update_campaign, so that this schema stays small'),
  domain_id: leftOut('no key may change it'),
  sites: leftOut('no key may change it'),
  browser_types: leftOut('no key may change it'),
  goal: leftOut('set in the dashboard'),
}

const fieldsOfNew = { ...fields, left_out_of: leftOut('no key may send it') }

const DESTINATIONS = ['destination_offer_id', 'redirect_url', 'funnel_id', 'click_flow_id']

/** Builds the destination from its flat arguments, of which one is given. */
function nestDestination(given: Json): Json {
  const { destination_offer_id = null, redirect_url = null, funnel_id = null, click_flow_id = null, ...rest } = given
  if (isGiven(destination_offer_id)) return { ...rest, destination: { type: 'offer', offer_id: destination_offer_id } }
  if (isGiven(redirect_url)) return { ...rest, destination: { type: 'redirect', url: redirect_url } }
  if (isGiven(funnel_id)) return { ...rest, destination: { type: 'funnel', funnel_id } }
  return isGiven(click_flow_id) ? { ...rest, destination: { type: 'click_flow', click_flow_id } } : rest
}

const flat = {
  nest: nestDestination,
  called: {
    'destination.offer_id': 'destination_offer_id',
    'destination.url': 'redirect_url',
    'destination.funnel_id': 'funnel_id',
    'destination.click_flow_id': 'click_flow_id',
  },
  arguments: {
    destination_offer_id: 'Destination: an offer, credited.',
    redirect_url: 'Destination: an address, with macros.',
    funnel_id: 'Destination: a funnel.',
    click_flow_id: 'Destination: a published click flow.',
  },
}

/** The parameters in the link when the campaign names none. Most campaigns use these two. */
const DEFAULT_PARAMETERS = { ref_id: 'ref_id', sub1: 'sub1' }

/**
 * The link to paste at the traffic source, with that source's macros. Without a source, each parameter has a placeholder in braces. A
 * placeholder that is not replaced counts as not sent.
 */
function withLink({ url, filled_url, source }: z.input<typeof campaigns.Campaign>, { origin }: MadeCall): Json {
  const whole = (address: string) => (address.startsWith('/') && origin !== undefined ? origin + address : address)
  if (filled_url !== url) return { link: whole(filled_url) }
  const named = Object.entries(source)
  const parameters = (named.length === 0 ? Object.entries(DEFAULT_PARAMETERS) : named).map(
    ([field, name = field]) => `${encodeURIComponent(name)}={${field}}`,
  )
  return { link: `${whole(url)}?${parameters.join('&')}` }
}

export const campaignTools = [
  tool({
    name: 'service_create_campaign',
    title: 'Create a campaign',
    endpoint: campaigns.createCampaign,
    hints: CREATES,
    description:
      'Takes traffic at once. Give one destination. Returns id, url and the link to paste at the traffic source, whose macros replace {ref_id}, {sub1}.',
    fields: fieldsOfNew,
    flat,
    choice: { of: DESTINATIONS, isRequired: true, field: 'destination' },
    addToReply: withLink,
  }),
  tool({
    name: 'service_update_campaign',
    title: 'Change a campaign',
    endpoint: campaigns.updateCampaign,
    hints: FINAL,
    description: 'OVERWRITES, for live traffic. Omitted fields stay. Give at most one destination.',
    id: { name: 'campaign_id', text: CAMPAIGN_ID },
    fields: {
      ...fields,
      key: leftOut('never changes'),
      source: 'As in service_create_campaign; replaced as a whole.',
      cost: COST,
    },
    flat,
    choice: { of: DESTINATIONS, isRequired: false, field: 'destination' },
    clearable: ['offer_id', 'fallback_url', 'ad_account_id', 'traffic_source_id', 'source', 'cost'],
  }),
  tool({
    name: 'service_delete_campaign',
    title: 'Delete a campaign',
    endpoint: campaigns.deleteCampaign,
    hints: FINAL,
    description:
      'CANNOT BE UNDONE: its link leads to the fallback and records nothing. Reports and late conversions stay. To send traffic elsewhere, use service_update_campaign.',
    id: { name: 'campaign_id', text: CAMPAIGN_ID },
    fields: {},
  }),
]
