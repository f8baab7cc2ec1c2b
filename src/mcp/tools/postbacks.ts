/** Postback rules: addresses called for conversions. */
import * as postbacks from '../../outgoing/postbacks/api.ts'
import { leftOut, tool } from '../tool.ts'
import { FINAL, FINAL_OUTSIDE } from './hints.ts'
import { asCreated, EVENT_TYPES_ELSEWHERE } from './words.ts'

const RULE = { name: 'postback_id', text: 'Rule id: from service_create_postback.' }

const fields = {
  event_type: { type: 'string', description: `What fires the rule, ${EVENT_TYPES_ELSEWHERE}.` },
  url: 'Address to call, https or http, with macros in path or query: {click_id} {event_type} {revenue} {currency} {txid} {sub1}…{sub9} {ref_id} {event_id} {campaign_id} {offer_id} {geo} {timestamp}. Others are left out: see unknown_macros.',
  method: leftOut('keys create GET rules only, and it never changes'),
  campaign_id: 'Only conversions of this campaign. None: all campaigns of the workspace, future ones too.',
  preset: leftOut('tells the form of the dashboard what to show'),
  active: 'false keeps the rule from firing. true unless given.',
  once_per_person: 'true: only the first matching conversion of each person calls. false unless given.',
}

export const postbackTools = [
  tool({
    name: 'service_create_postback',
    title: 'Create a postback rule',
    endpoint: postbacks.createPostbackRule,
    hints: { ...FINAL_OUTSIDE, idempotentHint: false },
    description:
      'SENDS DATA OUT: from now on the address is called by GET for every matching conversion; calls made cannot be taken back. Always GET: a rule with another method is made in the dashboard.',
    fields,
  }),
  tool({
    name: 'service_update_postback',
    title: 'Change a postback rule',
    endpoint: postbacks.updatePostbackRule,
    hints: FINAL_OUTSIDE,
    description:
      'OVERWRITES a rule, and no tool shows the values it has now; takes effect with the next conversion. Fields you leave out stay. The method cannot be changed.',
    id: RULE,
    fields: {
      ...fields,
      ...asCreated({ url: true, active: true }),
      event_type: { type: 'string', description: 'As when created.' },
      campaign_id: 'As when created. "": all campaigns.',
    },
  }),
  tool({
    name: 'service_delete_postback',
    title: 'Delete a postback rule',
    endpoint: postbacks.deletePostbackRule,
    hints: FINAL,
    description: 'CANNOT BE UNDONE: deletes a rule; its calls that still wait are dropped.',
    id: RULE,
    fields: {},
  }),
]
