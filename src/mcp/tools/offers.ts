/** The tools for offers. */
import { VISIT_MACROS } from '../../contract/address.ts'
import { MAX_PAYOUT } from '../../contract/fields.ts'
import * as offers from '../../traffic/offers/api.ts'
import { tool } from '../tool.ts'
import { CREATES, FINAL, SWITCHES } from './hints.ts'
import { OFFER_ID } from './words.ts'

const fields = {
  name: 'Shown in reports.',
  url: `Address for visitors, such as https://shop.example/?aff={click_id}. Macros: ${VISIT_MACROS}.`,
  payout: `Amount for a conversion without a payout of its own, 0 to ${MAX_PAYOUT}, as "12.50". None: nothing.`,
  payout_types: 'Event types that earn the payout. None: all.',
  payout_currency: 'As EUR. None: US dollars.',
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
    description:
      'Archives an offer, so that it gets no new traffic, or makes it active again. Its late conversions still count.',
    id: { name: 'offer_id', text: OFFER_ID },
    fields: { status: 'archived: out of use.' },
  }),
  tool({
    name: 'service_update_offer',
    title: 'Replace an offer',
    endpoint: offers.replaceOffer,
    hints: FINAL,
    description:
      'REPLACES THE WHOLE OFFER: omitted fields are cleared. No tool shows the current values, so ask for all of them first. The status stays.',
    id: { name: 'offer_id', text: OFFER_ID },
    fields: { ...fields, url: 'Address for visitors, with macros.' },
  }),
  tool({
    name: 'service_delete_offer',
    title: 'Delete an offer',
    endpoint: offers.deleteOffer,
    hints: FINAL,
    description:
      'CANNOT BE UNDONE: deletes an offer; campaigns that use it go to their fallback. To pause one, use service_set_offer_status.',
    id: { name: 'offer_id', text: OFFER_ID },
    fields: {},
  }),
]
