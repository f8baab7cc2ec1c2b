/** The tools for landings. */
import * as landings from '../../traffic/landings/api.ts'
import { tool } from '../tool.ts'
import { CREATES, FINAL, SWITCHES } from './hints.ts'
import { LANDING_ID } from './words.ts'

const fields = {
  name: '',
  url: 'Address, with macros: https://page.example/?clickid={click_id}.',
}

export const landingTools = [
  tool({
    name: 'service_create_landing',
    title: 'Create a landing',
    endpoint: landings.createLanding,
    hints: CREATES,
    description:
      'A page that visitors of a funnel or click flow see before the offer. Returns its id. Link from it to the offer with {base address}/o/{click_id}.',
    fields,
  }),
  tool({
    name: 'service_set_landing_status',
    title: 'Archive or unarchive a landing',
    endpoint: landings.setLandingStatus,
    hints: SWITCHES,
    description: 'Archived, it gets no new visitors.',
    id: { name: 'landing_id', text: LANDING_ID },
    fields: { status: '' },
  }),
  tool({
    name: 'service_update_landing',
    title: 'Replace a landing',
    endpoint: landings.replaceLanding,
    hints: FINAL,
    description: 'REPLACES THE WHOLE LANDING for live traffic: give name and url. A dry run shows the present ones.',
    id: { name: 'landing_id', text: LANDING_ID },
    fields,
  }),
  tool({
    name: 'service_delete_landing',
    title: 'Delete a landing',
    endpoint: landings.deleteLanding,
    hints: FINAL,
    description: 'CANNOT BE UNDONE: funnels continue without it. To pause it, use service_set_landing_status.',
    id: { name: 'landing_id', text: LANDING_ID },
    fields: {},
  }),
]
