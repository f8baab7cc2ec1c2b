/** The tools for offers. */
import { VISIT_MACROS } from '../../contract/address.ts'
import { MAX_PAYOUT } from '../../contract/fields.ts'
import * as offers from '../../traffic/offers/api.ts'
import { tool } from '../tool.ts'
import { CREATES, FINAL, SWITCHES } from './hints.ts'
import { EVENT_TYPES_THERE, OFFER_ID } from './words.ts'

const fields = {
  name: '',
  url: `Address for visitors, such as https://shop.example/?aff={click_id}. Macros: ${VISIT_MACROS}.`,
  payout: `For conversions without their own, 0 to ${MAX_PAYOUT}, as "12.50". None: nothing.`,
  payout_types: {
    type: 'array',
    items: { type: 'string' },
    description: `Event types that earn it, ${EVENT_TYPES_THERE}. None: all.`,
  },
  payout_currency: 'As EUR. None: USD.',
}

export const offerTools = [
  tool({
    name: 'service_create_offer',
    title: 'Create an offer',
    endpoint: offers.createOffer,
    hints: CREATES,
    description: 'The advertiser’s page and the payout of a conversion. Returns its id.',
    fields,
  }),
  tool({
    name: 'service_set_offer_status',
    title: 'Archive or unarchive an offer',
    endpoint: offers.setOfferStatus,
    hints: SWITCHES,
    description: 'Archived, it gets no new traffic; its late conversions still count.',
    id: { name: 'offer_id', text: OFFER_ID },
    fields: { status: '' },
  }),
  tool({
    name: 'service_update_offer',
    title: 'Replace an offer',
    endpoint: offers.replaceOffer,
    hints: FINAL,
    description: 'REPLACES THE WHOLE OFFER: omitted fields are cleared. A dry run shows the present values.',
    id: { name: 'offer_id', text: OFFER_ID },
    fields: { ...fields, url: 'Address for visitors, with macros.' },
  }),
  tool({
    name: 'service_delete_offer',
    title: 'Delete an offer',
    endpoint: offers.deleteOffer,
    hints: FINAL,
    description:
      'CANNOT BE UNDONE: campaigns that use it go to their fallback. To pause it, use service_set_offer_status.',
    id: { name: 'offer_id', text: OFFER_ID },
    fields: {},
  }),
]
