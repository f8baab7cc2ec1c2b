/** Campaigns: the addresses traffic is sent to. */
import * as campaigns from '../../traffic/campaigns/api.ts'
import { isGiven, type Json, leftOut, tool } from '../tool.ts'
import { CREATES, FINAL } from './hints.ts'
import { asCreated, CAMPAIGN_ID, CLICK_FLOW_ID, FUNNEL_ID, OFFER_ID } from './words.ts'

const fields = {
  name: 'Name shown in reports.',
  key: 'Part of the public address, 3 to 64 of a-z, 0-9 and -. Left out: made up. Never changes.',
  destination: leftOut('given flat, as destination_offer_id, redirect_url, funnel_id or click_flow_id'),
  offer_id: `Offer whose payout conversions inherit. ${OFFER_ID}`,
  fallback_url: 'Where visitors go while it cannot take them.',
  ad_account_id: 'Ad account its conversions go to; the dashboard shows its id.',
  source: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description:
      'Under which parameters the source sends ref_id and sub1 to sub9, as {"ref_id": "clickid", "sub1": "zone"}.',
  },
  strict_filter: 'Keep HTTP libraries out of the counts too.',
}

const DESTINATIONS = ['destination_offer_id', 'redirect_url', 'funnel_id', 'click_flow_id']

/** The destination out of its flat arguments, of which one is given. */
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
    destination_offer_id: 'Destination: an offer, followed live. Clicks earn for it.',
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
      'Creates a campaign and returns it with its public url, which takes traffic at once. Give exactly one destination.',
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
