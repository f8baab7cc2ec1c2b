/** The tools for click flows. A graph is nested, so its schema is written out here, with an example. */
import * as flows from '../../traffic/click-flows/api.ts'
import { tool } from '../tool.ts'
import { CREATES, FINAL } from './hints.ts'
import { CLICK_FLOW_ID } from './words.ts'

/** A complete graph: visitors from Germany see a landing and then an offer; all others are redirected. */
export const EXAMPLE_GRAPH = {
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

/** Node types and fields that tools do not offer, to keep the schema small. The dashboard and the HTTP API offer them. */
export const LEFT_OUT = {
  types: ['mini_app', 'channel'],
  fields: ['app', 'start', 'channel_id', 'open', 'link_host', 'x', 'y'],
} as const
const TYPES = flows.NODE_TYPES.filter(type => !LEFT_OUT.types.some(left => left === type))

const text = (description: string) => ({ type: 'string', description })

const node = {
  type: 'object',
  additionalProperties: false,
  required: ['id', 'type'],
  properties: {
    id: { type: 'string' },
    type: { type: 'string', enum: TYPES },
    label: { type: 'string' },
    field: { type: 'string', enum: [...flows.CONDITION_FIELDS], description: 'condition' },
    match: { type: 'string', enum: [...flows.MATCHES], description: 'os, browser, sub' },
    values: {
      type: 'array',
      items: { type: 'string' },
      description: `condition: any match is a yes. geo: DE, …; device: ${flows.DEVICES.join(', ')}. None for uniqueness (new visitor) and bot (crawler)`,
    },
    days: {
      type: 'array',
      items: { type: 'string', enum: [...flows.DAYS] },
      description: 'condition time, with from_time, …',
    },
    from_time: text('As 09:30'),
    to_time: { type: 'string' },
    time_zone: text('IANA, else UTC'),
    within_hours: { type: 'integer' },
    landing_id: { type: 'string' },
    offer_id: { type: 'string' },
    bot_id: text('From the dashboard'),
    url: text('redirect: address, macros allowed'),
    earns_for_offer_id: text('redirect: offer credited, else none'),
  },
}

const edge = {
  type: 'object',
  additionalProperties: false,
  required: ['from', 'to'],
  properties: {
    from: { type: 'string' },
    to: { type: 'string' },
    branch: { type: 'string', enum: [...flows.BRANCHES], description: 'From a condition: one edge per branch' },
    weight: { type: 'integer', minimum: 0, maximum: flows.MOST_EDGE_WEIGHT, description: 'From a split: share' },
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
      'A draft without traffic. Returns its id and problems: what publishing would refuse. No tool changes a flow: create another. Next: service_publish_click_flow, then a campaign with its id.',
    fields: {
      name: '',
      graph: {
        type: 'object',
        additionalProperties: false,
        required: ['nodes', 'edges'],
        properties: { nodes: { type: 'array', items: node }, edges: { type: 'array', items: edge } },
        description: `Starts at one entry; conditions and splits divide visitors; offer, bot and redirect end a path; a landing ends it or leads to an offer or bot. No cycles. Example: ${JSON.stringify(EXAMPLE_GRAPH).replaceAll('"', "'")}`,
      },
    },
  }),
  tool({
    name: 'service_set_click_flow_status',
    title: 'Pause or archive a click flow',
    endpoint: flows.setClickFlowStatus,
    hints: FINAL,
    description:
      'TAKES IT OFF TRAFFIC: its campaigns go to their fallback at once. To bring it back, use service_publish_click_flow.',
    id,
    fields: {
      status: {
        type: 'string',
        enum: ['paused', 'archived'],
      },
    },
  }),
  tool({
    name: 'service_delete_click_flow',
    title: 'Delete a click flow',
    endpoint: flows.deleteClickFlow,
    hints: FINAL,
    description:
      'CANNOT BE UNDONE: its campaigns go to their fallback. To pause it, use service_set_click_flow_status.',
    id,
    fields: {},
  }),
  tool({
    name: 'service_publish_click_flow',
    title: 'Publish a click flow',
    endpoint: flows.publishClickFlow,
    hints: FINAL,
    description: 'GOES LIVE AT ONCE: visitors of its campaigns follow the draft. A faulty draft is refused.',
    id,
    fields: {},
  }),
]
