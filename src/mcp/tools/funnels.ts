/** Funnels: landings and offers that share visitors by weight. */
import * as funnels from '../../traffic/funnels/api.ts'
import { tool } from '../tool.ts'
import { CREATES, FINAL } from './hints.ts'
import { FUNNEL_ID } from './words.ts'

const fields = {
  name: 'Name shown in the dashboard.',
  landings: 'Landings visitors come to first, each with its share. None: straight to an offer.',
  offers: 'Offers they go on to. None: the landings stand alone.',
}

export const funnelTools = [
  tool({
    name: 'service_create_funnel',
    title: 'Create a funnel',
    endpoint: funnels.createFunnel,
    hints: CREATES,
    description:
      'Creates a funnel: visitors are shared among landings, then among offers, by weight, and each keeps theirs. Needs one landing or offer at least. Returns its id. Example: {"name": "Two pages", "landings": [{"landing_id": "…", "weight": 70}, {"landing_id": "…", "weight": 30}], "offers": []}.',
    fields,
  }),
  tool({
    name: 'service_update_funnel',
    title: 'Change a funnel',
    endpoint: funnels.updateFunnel,
    hints: FINAL,
    description:
      'OVERWRITES for live traffic at once. Fields you leave out stay; landings and offers are replaced as whole lists.',
    id: { name: 'funnel_id', text: FUNNEL_ID },
    fields,
    clearable: ['landings', 'offers'],
  }),
  tool({
    name: 'service_delete_funnel',
    title: 'Delete a funnel',
    endpoint: funnels.deleteFunnel,
    hints: FINAL,
    description:
      'CANNOT BE UNDONE: campaigns that lead to it send their visitors to their fallback from then on. To keep them going, use service_update_funnel, or service_update_campaign first.',
    id: { name: 'funnel_id', text: FUNNEL_ID },
    fields: {},
  }),
]
