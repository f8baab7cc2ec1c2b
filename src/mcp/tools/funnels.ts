/** The tools for funnels. */
import * as funnels from '../../traffic/funnels/api.ts'
import { tool } from '../tool.ts'
import { CREATES, FINAL } from './hints.ts'
import { FUNNEL_ID } from './words.ts'

const fields = {
  name: '',
  landings: 'Seen first. None: straight to an offer.',
  offers: 'Seen next. None: landings only.',
}

export const funnelTools = [
  tool({
    name: 'service_create_funnel',
    title: 'Create a funnel',
    endpoint: funnels.createFunnel,
    hints: CREATES,
    description:
      'Divides visitors among landings, then among offers, by weight (such as 70 and 30). Each visitor keeps theirs. Needs a landing or an offer. Returns its id.',
    fields,
  }),
  tool({
    name: 'service_update_funnel',
    title: 'Change a funnel',
    endpoint: funnels.updateFunnel,
    hints: FINAL,
    description:
      'OVERWRITES, for live traffic at once. Omitted fields stay; landings and offers are replaced as whole lists.',
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
      'CANNOT BE UNDONE: campaigns that use it go to their fallback. To avoid that, use service_update_campaign first.',
    id: { name: 'funnel_id', text: FUNNEL_ID },
    fields: {},
  }),
]
