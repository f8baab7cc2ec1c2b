/** The tools for landings. */
import * as landings from '../../traffic/landings/api.ts'
import { tool } from '../tool.ts'
import { CREATES, FINAL, SWITCHES } from './hints.ts'
import { LANDING_ID } from './words.ts'

const fields = {
  name: 'Shown in the dashboard.',
  url: 'Address of the page, with macros, such as https://page.example/?clickid={click_id}.',
}

export const landingTools = [
  tool({
    name: 'service_create_landing',
    title: 'Create a landing',
    endpoint: landings.createLanding,
    hints: CREATES,
    description:
      'A page of yours that visitors of a funnel or click flow see before the offer. Returns its id. Link from the page to the offer with {base address}/o/{click_id}.',
    fields,
  }),
  tool({
    name: 'service_set_landing_status',
    title: 'Archive or unarchive a landing',
    endpoint: landings.setLandingStatus,
    hints: SWITCHES,
    description: 'Archives a landing, so that it gets no new visitors, or makes it active again.',
    id: { name: 'landing_id', text: LANDING_ID },
    fields: { status: 'archived: out of use.' },
  }),
  tool({
    name: 'service_update_landing',
    title: 'Replace a landing',
    endpoint: landings.replaceLanding,
    hints: FINAL,
    description:
      'REPLACES THE WHOLE LANDING for live traffic: omitted fields are cleared. No tool shows the current values, so ask for name and url first. The status stays.',
    id: { name: 'landing_id', text: LANDING_ID },
    fields,
  }),
  tool({
    name: 'service_delete_landing',
    title: 'Delete a landing',
    endpoint: landings.deleteLanding,
    hints: FINAL,
    description:
      'CANNOT BE UNDONE: deletes a landing; funnels continue without it. To pause one, use service_set_landing_status.',
    id: { name: 'landing_id', text: LANDING_ID },
    fields: {},
  }),
]
