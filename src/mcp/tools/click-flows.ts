/** Click flows: graphs that decide where a visitor goes. A graph is nested by nature, so its schema is written out, with an example. */
import * as flows from '../../traffic/click-flows/api.ts'
import { tool } from '../tool.ts'
import { CREATES, FINAL } from './hints.ts'
import { CLICK_FLOW_ID } from './words.ts'

/** A whole graph in the words of the schema: visitors from Germany see a landing and go on to an offer, all others are redirected. */
export const EXAMPLE = {
  nodes: [
    { id: 'in', type: 'entry' },
    { id: 'de', type: 'condition', field: 'geo', values: ['DE'] },
    { id: 'page', type: 'landing', landing_id: '…' },
    { id: 'sale', type: 'offer', offer_id: '…' },
    { id: 'rest', type: 'redirect', url: 'https://example.com/' },
  ],
  edges: [
    { from: 'in', to: 'de' },
    { from: 'de', to: 'page', branch: 'yes' },
    { from: 'de', to: 'rest', branch: 'no' },
    { from: 'page', to: 'sale' },
  ],
}

/** Made in the dashboard, or over HTTP: what every model carries has no room for it. */
export const LEFT_OUT = {
  types: ['mini_app', 'channel'],
  fields: ['app', 'start', 'channel_id', 'open', 'link_host'],
} as const
const TYPES = flows.NODE_TYPES.filter(type => !LEFT_OUT.types.some(left => left === type))

const text = (description: string) => ({ type: 'string', description })

const node = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'type'],
  properties: {
    id: text('Your name for it'),
    type: { type: 'string', enum: TYPES },
    label: text('What people see'),
    field: { type: 'string', enum: [...flows.CONDITION_FIELDS], description: 'condition: what it asks about' },
    match: { type: 'string', enum: [...flows.MATCHES], description: 'condition on os, browser, sub' },
    values: {
      type: 'array',
      items: { type: 'string' },
      description: `condition: any means yes. geo: DE, …; device: ${flows.DEVICES.join(', ')}. None for uniqueness (a new visitor) and bot (a crawler)`,
    },
    days: {
      type: 'array',
      items: { type: 'string', enum: [...flows.DAYS] },
      description: 'condition on time, with from_time, to_time, time_zone',
    },
    from_time: text('As 09:30'),
    to_time: text('As 18:00'),
    time_zone: text('IANA, else UTC'),
    within_hours: { type: 'integer' },
    landing_id: { type: 'string' },
    offer_id: { type: 'string' },
    bot_id: text('From the dashboard'),
    url: text('redirect: address, macros allowed'),
    earns_for_offer_id: text('redirect: offer it earns for, else none'),
    x: { type: 'number' },
    y: { type: 'number' },
  },
}

const edge = {
  type: 'object',
  additionalProperties: false,
  required: ['from', 'to'],
  properties: {
    from: { type: 'string' },
    to: { type: 'string' },
    branch: { type: 'string', enum: [...flows.BRANCHES], description: 'From a condition: one edge for each' },
    weight: { type: 'integer', minimum: 0, maximum: flows.MOST_WEIGHT, description: 'From a split: share' },
  },
}

const id = { name: 'click_flow_id', text: CLICK_FLOW_ID }

export const clickFlowTools = [
  tool({
    name: 'service_create_click_flow',
    title: 'Create a click flow',
    endpoint: flows.createClickFlow,
    hints: CREATES,
    description:
      'Creates a click flow as a draft without traffic. Returns its id and problems, which say node by node what publishing would refuse; a flow cannot be changed by tool, so create a new one. Then service_publish_click_flow, then a campaign with its id.',
    fields: {
      name: 'Name shown in the dashboard.',
      graph: {
        type: 'object',
        additionalProperties: false,
        required: ['nodes', 'edges'],
        properties: { nodes: { type: 'array', items: node }, edges: { type: 'array', items: edge } },
        description: `One entry leads on; conditions and splits part visitors; offer, bot and redirect end a path; a landing ends it or leads to an offer or bot. No circles. Example: ${JSON.stringify(EXAMPLE)}`,
      },
    },
  }),
  tool({
    name: 'service_set_click_flow_status',
    title: 'Pause or archive a click flow',
    endpoint: flows.setClickFlowStatus,
    hints: FINAL,
    description:
      'TAKES IT OFF TRAFFIC: campaigns behind an active flow drop to their fallback at once. To bring it back, service_publish_click_flow.',
    id,
    fields: {
      status: {
        type: 'string',
        enum: ['paused', 'archived'],
        description: 'What it becomes. A key cannot set it active.',
      },
    },
  }),
  tool({
    name: 'service_delete_click_flow',
    title: 'Delete a click flow',
    endpoint: flows.deleteClickFlow,
    hints: FINAL,
    description:
      'CANNOT BE UNDONE: campaigns that lead to it go to their fallback from then on. To stop it for a while, service_set_click_flow_status with paused.',
    id,
    fields: {},
  }),
  tool({
    name: 'service_publish_click_flow',
    title: 'Publish a click flow',
    endpoint: flows.publishClickFlow,
    hints: FINAL,
    description:
      'GOES LIVE AT ONCE: visitors of its campaigns follow the draft from now on. What is wrong with the draft is refused, node by node. Publish before making a campaign that leads to it.',
    id,
    fields: {},
  }),
]
