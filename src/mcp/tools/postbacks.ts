/** Postback rules: addresses called for conversions. */
import * as postbacks from '../../outgoing/postbacks/api.ts'
import { leftOut, tool } from '../tool.ts'
import { FINAL, FINAL_OUTSIDE } from './hints.ts'
import { CAMPAIGN_ID, macroList } from './words.ts'

const RULE = { name: 'postback_id', text: 'Rule id: from service_create_postback.' }

const fields = {
  event_type: 'What fires the rule.',
  url: `Macros in path or query: ${macroList(postbacks.POSTBACK_MACROS)}.`,
  method: leftOut('keys create GET rules only, and it never changes'),
  campaign_id: `Only conversions of this campaign. ${CAMPAIGN_ID} None: all campaigns of the workspace, future ones too.`,
  traffic_source_id: leftOut('only in the dashboard'),
  on: leftOut('only in the dashboard'),
  preset: leftOut('tells the form of the dashboard what to show'),
  active: 'false: it does not fire. true unless given.',
  once_per_person: 'true: only the first matching conversion of each person calls. false unless given.',
}

export const postbackTools = [
  tool({
    name: 'service_create_postback',
    title: 'Create a postback rule',
    endpoint: postbacks.createPostbackRule,
    hints: { ...FINAL_OUTSIDE, idempotentHint: false },
    description:
      'SENDS DATA OUT: from now on the address is called by GET for every matching conversion; calls made cannot be taken back. Other methods only in the dashboard.',
    fields,
  }),
  tool({
    name: 'service_update_postback',
    title: 'Change a postback rule',
    endpoint: postbacks.updatePostbackRule,
    hints: FINAL_OUTSIDE,
    description: 'OVERWRITES a rule; takes effect with the next conversion. Fields you leave out stay.',
    id: RULE,
    fields: {
      ...fields,
      url: 'Address to call, with macros such as {click_id}, {ref_id}, {event_type}, {sub1}.',
      campaign_id: `Only conversions of this campaign. ${CAMPAIGN_ID} In clear: of all campaigns.`,
      active: 'false keeps the rule from firing, true lets it fire.',
      once_per_person: 'true: only the first conversion of each person calls.',
    },
    clearable: ['campaign_id'],
  }),
  tool({
    name: 'service_delete_postback',
    title: 'Delete a postback rule',
    endpoint: postbacks.deletePostbackRule,
    hints: FINAL,
    description:
      'CANNOT BE UNDONE: deletes a rule; its calls that still wait are dropped. To stop it for a while, service_update_postback with active false.',
    id: RULE,
    fields: {},
  }),
]
