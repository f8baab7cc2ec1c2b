/** The tools for postback rules. */
import { macroList } from '../../contract/address.ts'
import * as postbacks from '../../outgoing/postbacks/api.ts'
import { leftOut, tool } from '../tool.ts'
import { FINAL, FINAL_OUTSIDE } from './hints.ts'
import { EVENT_TYPES_THERE } from './words.ts'

const RULE = { name: 'postback_id', text: 'From service_create_postback.' }

const fields = {
  event_type: { type: 'string', description: `Fires it; ${EVENT_TYPES_THERE}.` },
  url: `Macros in path or query: ${macroList(postbacks.POSTBACK_MACROS)}.`,
  method: leftOut('keys create GET rules only, and it never changes'),
  campaign_id: 'Only its conversions. None: all campaigns, including future ones.',
  traffic_source_id: leftOut('only in the dashboard'),
  on: leftOut('only in the dashboard'),
  preset: leftOut('only for the dashboard’s form'),
  active: 'Default true.',
  once_per_person: 'true: only the first conversion of each person.',
}

export const postbackTools = [
  tool({
    name: 'service_create_postback',
    title: 'Create a postback rule',
    endpoint: postbacks.createPostbackRule,
    hints: { ...FINAL_OUTSIDE, idempotentHint: false },
    description: 'SENDS DATA OUT: the address is called by GET for every matching conversion from now on.',
    fields,
  }),
  tool({
    name: 'service_update_postback',
    title: 'Change a postback rule',
    endpoint: postbacks.updatePostbackRule,
    hints: FINAL_OUTSIDE,
    description: 'OVERWRITES a rule, from the next conversion. Omitted fields stay.',
    id: RULE,
    fields: {
      ...fields,
      url: 'Macros as in service_create_postback.',
      campaign_id: 'Only its conversions. All campaigns: name it in clear.',
    },
    clearable: ['campaign_id'],
  }),
  tool({
    name: 'service_delete_postback',
    title: 'Delete a postback rule',
    endpoint: postbacks.deletePostbackRule,
    hints: FINAL,
    description:
      'CANNOT BE UNDONE: deletes a rule and its pending calls. To pause it, use service_update_postback with active false.',
    id: RULE,
    fields: {},
  }),
]
