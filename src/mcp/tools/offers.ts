/** Offers: what conversions pay. */
import { MAX_PAYOUT } from '../../contract/fields.ts'
import * as offers from '../../traffic/offers/api.ts'
import { leftOut, tool } from '../tool.ts'
import { CREATES, FINAL, SWITCHES } from './hints.ts'
import { OFFER_ID, VISIT_MACROS } from './words.ts'

const fields = {
  name: 'Name shown in reports.',
  url: `Where visitors go, such as https://shop.example/?aff={click_id}. Macros: ${VISIT_MACROS}.`,
  payout: `US dollars of a conversion sent without a payout, 0 to ${MAX_PAYOUT}, as "12.50". None: nothing.`,
  payout_types: 'Event types that earn it. None: all.',
  payout_currency: leftOut('Tools speak of US dollars alone; another currency is chosen in the dashboard.'),
}

export const offerTools = [
  tool({
    name: 'service_create_offer',
    title: 'Create an offer',
    endpoint: offers.createOffer,
    hints: CREATES,
    description:
      'Creates an offer: the advertiser page a campaign leads to and what a conversion pays. Returns its id.',
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
      'REPLACES THE WHOLE OFFER: fields you leave out are cleared, and no tool shows what there is, so ask for all of them first. The status stays.',
    id: { name: 'offer_id', text: OFFER_ID },
    fields: { ...fields, url: 'Where visitors go, with macros, such as https://shop.example/?aff={click_id}.' },
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
