/** Funnels: landings and offers that share visitors by weight. */
import * as funnels from '../../traffic/funnels/api.ts'
import { tool } from '../tool.ts'
import { CREATES, FINAL } from './hints.ts'
import { asCreated, FUNNEL_ID } from './words.ts'

const fields = {
  name: 'Name shown in the dashboard.',
  landings: 'Landings visitors come to first, as [{"landing_id": "…", "weight": 70}]. None: straight to an offer.',
  offers: 'Offers they go on to, as [{"offer_id": "…", "weight": 1}]. None: the landings stand alone.',
}

const LIST_AS_BEFORE = { type: 'array', items: { type: 'object' }, description: 'As when created.' }

export const funnelTools = [
  tool({
    name: 'service_create_funnel',
    title: 'Create a funnel',
    endpoint: funnels.createFunnel,
    hints: CREATES,
    description:
      'Creates a funnel: visitors are shared among landings, then among offers, by weight, and each keeps theirs. Needs one landing or offer at least. Returns it with its id for service_create_campaign.',
    fields,
  }),
  tool({
    name: 'service_update_funnel',
    title: 'Change a funnel',
    endpoint: funnels.updateFunnel,
    hints: FINAL,
    description:
      'OVERWRITES for live traffic at once, and no tool shows the values it has now. Fields you leave out stay; landings and offers are replaced as whole lists.',
    id: { name: 'funnel_id', text: FUNNEL_ID },
    fields: { ...asCreated(fields), landings: LIST_AS_BEFORE, offers: LIST_AS_BEFORE },
  }),
  tool({
    name: 'service_delete_funnel',
    title: 'Delete a funnel',
    endpoint: funnels.deleteFunnel,
    hints: FINAL,
    description: 'CANNOT BE UNDONE: campaigns that lead to it send their visitors to their fallback from then on.',
    id: { name: 'funnel_id', text: FUNNEL_ID },
    fields: {},
  }),
]
