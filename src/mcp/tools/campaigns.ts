/** Campaigns: the addresses traffic is sent to. */
import * as campaigns from '../../traffic/campaigns/api.ts'
import { isGiven, type Json, leftOut, tool } from '../tool.ts'
import { CREATES, FINAL } from './hints.ts'
import { asCreated, CAMPAIGN_ID, CLICK_FLOW_ID, FUNNEL_ID, OFFER_ID } from './words.ts'

const fields = {
  name: 'Name shown in reports.',
  key: 'Part of the public address, 3 to 64 of a-z, 0-9 and -. Left out: made up. Never changes.',
  destination: leftOut('given flat, as redirect_url, funnel_id or click_flow_id'),
  offer_id: `Offer whose payout conversions inherit. ${OFFER_ID}`,
  fallback_url: 'Where visitors go while the destination cannot take them.',
  ad_account_id: 'Ad account that conversions are forwarded to; its id is in the dashboard.',
  source: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description:
      'Which query parameter of the traffic source fills which of ref_id and sub1 to sub9, as {"ref_id": "clickid", "sub1": "zone"}.',
  },
  strict_filter: 'Also keep generic HTTP libraries out of the counts.',
}

const DESTINATIONS = ['redirect_url', 'funnel_id', 'click_flow_id']

/** The destination out of its flat arguments, of which one is given. */
function nestDestination({ redirect_url = null, funnel_id = null, click_flow_id = null, ...rest }: Json): Json {
  if (isGiven(redirect_url)) return { ...rest, destination: { type: 'redirect', url: redirect_url } }
  if (isGiven(funnel_id)) return { ...rest, destination: { type: 'funnel', funnel_id } }
  return isGiven(click_flow_id) ? { ...rest, destination: { type: 'click_flow', click_flow_id } } : rest
}

const flat = {
  nest: nestDestination,
  called: {
    'destination.url': 'redirect_url',
    'destination.funnel_id': 'funnel_id',
    'destination.click_flow_id': 'click_flow_id',
  },
  arguments: {
    redirect_url: 'Destination: an address, macros allowed, such as https://shop.example/?aff={click_id}.',
    funnel_id: `Destination: a funnel. ${FUNNEL_ID}`,
    click_flow_id: `Destination: a published click flow. ${CLICK_FLOW_ID}`,
  },
}

export const campaignTools = [
  tool({
    name: 'service_create_campaign',
    title: 'Create a campaign',
    endpoint: campaigns.createCampaign,
    hints: CREATES,
    description:
      'Creates a campaign and returns it with its id and the public url to send traffic to, which works at once. Give exactly one destination: redirect_url, funnel_id or click_flow_id.',
    fields,
    flat,
    choice: { of: DESTINATIONS, isRequired: true },
  }),
  tool({
    name: 'service_update_campaign',
    title: 'Change a campaign',
    endpoint: campaigns.updateCampaign,
    hints: FINAL,
    description:
      'OVERWRITES for live traffic, and no tool shows the values it has now. Fields you leave out stay; an empty text clears an optional one. At most one destination.',
    id: { name: 'campaign_id', text: CAMPAIGN_ID },
    fields: {
      ...asCreated(fields),
      key: leftOut('never changes'),
      destination: fields.destination,
      source: { ...fields.source, description: 'As when created.' },
    },
    flat: { ...flat, arguments: asCreated(flat.arguments) },
    choice: { of: DESTINATIONS, isRequired: false },
  }),
  tool({
    name: 'service_delete_campaign',
    title: 'Delete a campaign',
    endpoint: campaigns.deleteCampaign,
    hints: FINAL,
    description:
      'CANNOT BE UNDONE: the public address goes to the fallback and records nothing from then on. Reports and late conversions stay.',
    id: { name: 'campaign_id', text: CAMPAIGN_ID },
    fields: {},
  }),
]
