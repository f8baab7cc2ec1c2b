/** Offers: what conversions pay. */
import { MAX_PAYOUT } from '../../contract/fields.ts'
import * as offers from '../../traffic/offers/api.ts'
import { tool } from '../tool.ts'
import { CREATES, FINAL, SWITCHES } from './hints.ts'
import { asCreated, EVENT_TYPES_ELSEWHERE, OFFER_ID } from './words.ts'

const fields = {
  name: 'Name shown in reports.',
  url: 'Where visitors go, http or https, with macros, as https://shop.example/?aff={click_id}.',
  payout: `US dollars a conversion without a payout of its own earns, 0 to ${MAX_PAYOUT}, as "12.50". None: nothing.`,
  payout_types: {
    type: 'array',
    items: { type: 'string' },
    description: `Event types that earn it, ${EVENT_TYPES_ELSEWHERE}. None: all.`,
  },
}

export const offerTools = [
  tool({
    name: 'service_create_offer',
    title: 'Create an offer',
    endpoint: offers.createOffer,
    hints: CREATES,
    description:
      'Creates an offer: the advertiser page a campaign leads to and what a conversion pays. Returns it with its id.',
    fields,
  }),
  tool({
    name: 'service_set_offer_status',
    title: 'Archive or unarchive an offer',
    endpoint: offers.setOfferStatus,
    hints: SWITCHES,
    description:
      'Archives an offer, so that it gets no new traffic, or makes it active again. Its late conversions still earn.',
    id: { name: 'offer_id', text: OFFER_ID },
    fields: { status: 'archived takes it out of use, active brings it back.' },
  }),
  tool({
    name: 'service_update_offer',
    title: 'Replace an offer',
    endpoint: offers.replaceOffer,
    hints: FINAL,
    description:
      'REPLACES THE WHOLE OFFER: fields you leave out are cleared, and no tool shows the values it has now. Ask for all of them first. The status stays.',
    id: { name: 'offer_id', text: OFFER_ID },
    fields: {
      ...asCreated(fields),
      payout_types: { ...fields.payout_types, description: 'As when created.' },
    },
  }),
  tool({
    name: 'service_delete_offer',
    title: 'Delete an offer',
    endpoint: offers.deleteOffer,
    hints: FINAL,
    description:
      'CANNOT BE UNDONE: deletes an offer; campaigns that name it send visitors to their fallback. To pause one, use service_set_offer_status.',
    id: { name: 'offer_id', text: OFFER_ID },
    fields: {},
  }),
]
