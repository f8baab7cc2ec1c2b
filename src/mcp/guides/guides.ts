/**
 * Guides: texts that are too long for descriptions, made from the lists that the routes validate with. They are the same for every key and hold no
 * customer data.
 */
import { MACROS } from '../../contract/address.ts'
import { EVENT_TYPE_LABELS, EVENT_TYPES } from '../../contract/event-types.ts'
import { FlowNode, LONGEST_PATH, NODE_TYPES } from '../../contract/flow-graph.ts'
import { LADDER, rungOfEvent } from '../../contract/ladder.ts'
import { REFUSALS, type RefusalName } from '../../contract/refusal-catalogue.ts'
import { POSTBACK_MACROS } from '../../outgoing/postbacks/api.ts'
import { TOOLS } from '../tools/all.ts'
import { EXAMPLE_GRAPH } from '../tools/click-flows.ts'

type Guide = { readonly name: string; readonly title: string; readonly description: string; readonly text: string }

const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`
const braced = (names: readonly string[]): string => names.map(name => `\`{${name}}\``).join(', ')

function macros(): string {
  return lines(
    '# Macros',
    '',
    `In addresses for visitors (offers, landings, redirects, fallbacks): ${braced(MACROS)}.`,
    '',
    `In addresses of postback rules: ${braced(POSTBACK_MACROS)}. There is no macro for the payout.`,
    '',
    '- Case does not matter. Values are percent-encoded; an unknown value is empty.',
    '- Unknown macros are left out of the address: `{clickid}` sends nothing.',
    '- Macros are allowed only after the host: in the path, the query or the fragment.',
    '- In the link pasted at a traffic source, replace the braces by macros of that source. A placeholder that is not replaced counts as not sent.',
  )
}

/** The fields and edges of each type of node. */
const NODES: Readonly<Record<(typeof NODE_TYPES)[number], string>> = {
  entry: 'exactly one, with one edge',
  condition: '`field` and the fields it needs; one edge with branch yes, one with branch no',
  split: 'two or more edges with `weight`',
  landing: '`landing_id`; ends the path, or has one edge to the offer, bot, Mini App or channel that its link opens',
  offer: '`offer_id`; ends the path',
  bot: '`bot_id`; ends the path',
  mini_app:
    'a Mini App of `bot_id`; ends the path. Only in the dashboard: service_create_click_flow does not accept it',
  channel: 'an invite link of `channel_id`; ends the path. Only in the dashboard as well',
  redirect: '`url`; ends the path',
}

function clickFlows(): string {
  const fields = Object.entries(FlowNode.shape).flatMap(([name, schema]) => {
    const { description } = schema.meta() ?? {}
    return description?.startsWith('condition') ? [`- \`${name}\`: ${description}`] : []
  })
  return lines(
    '# Click flows',
    '',
    'No tool changes the graph of a flow. To change one, create a new flow, publish it, and give it to the campaign.',
    `No cycles; a path has at most ${LONGEST_PATH} nodes. Fields of other node types are ignored, unknown fields are refused.`,
    '',
    ...NODE_TYPES.map(type => `- \`${type}\`: ${NODES[type]}`),
    '',
    '## Conditions',
    '',
    ...fields,
    '',
    '## A complete graph',
    '',
    '```json',
    JSON.stringify(EXAMPLE_GRAPH, null, 2),
    '```',
  )
}

const SPOKEN = new Intl.ListFormat('en-GB')

function eventTypes(): string {
  const raising = EVENT_TYPES.filter(type => rungOfEvent(type) !== undefined)
  return lines(
    '# Event types',
    '',
    ...EVENT_TYPES.map(type => `- \`${type}\`: ${EVENT_TYPE_LABELS[type]}`),
    '',
    `The status of a click rises through ${SPOKEN.format(LADDER)}. The types ${SPOKEN.format(raising)} raise it; other types do not change it.`,
    '',
    'With a connected bot Sluice itself records bot_start, channel_join, join_request, miniapp_launch, purchase, subscription_renewed and ' +
      'subscription_cancelled. If you send them too, they count twice.',
  )
}

/** The refusals of the gate, which any route can answer. */
const OF_GATE: readonly RefusalName[] = [
  'api_key_read_not_granted',
  'api_key_write_not_granted',
  'api_key_delete_not_granted',
  'role_forbidden',
  'api_key_org_not_member',
  'api_key_grant_unverifiable',
  'org_deleted',
  'rate_limited',
  'invalid_request',
  'service_unavailable',
]

/** Refusals of the tools' routes that only people get: a key deletes a campaign without archiving it first, which no tool can do. */
const OF_PEOPLE: ReadonlySet<RefusalName> = new Set(['campaign_not_archived'])

function refusals(): string {
  const ofTools = TOOLS.flatMap(({ endpoint }) => endpoint.refuses ?? [])
  const names = new Set([...OF_GATE, ...ofTools.filter(name => !OF_PEOPLE.has(name))])
  const rows = [...names].map(name => {
    const { status, error, code, hint }: (typeof REFUSALS)[RefusalName] & { code?: string; hint?: string } =
      REFUSALS[name]
    return `- ${status}${code === undefined ? '' : ` \`${code}\``}: ${error}${hint === undefined ? '' : `. ${hint}`}`
  })
  return lines(
    '# Refusals',
    '',
    'A refusal is a result with isError. Its text is JSON: status and error, and if present code, hint, slug, tier, retry_after. ' +
      'Repeat a call only after 429 and 503, once retry_after seconds have passed.',
    '',
    ...rows,
  )
}

export const GUIDES: readonly Guide[] = [
  {
    name: 'macros',
    title: 'Macros of addresses',
    description: 'The macros in addresses, where each is replaced, and what happens to unknown ones.',
    text: macros(),
  },
  {
    name: 'click-flows',
    title: 'Click flows',
    description: 'The nodes and edges of a flow, its conditions, and a complete graph.',
    text: clickFlows(),
  },
  {
    name: 'event-types',
    title: 'Event types',
    description:
      'The types of conversions, which of them Sluice records itself, and which raise the status of a click.',
    text: eventTypes(),
  },
  {
    name: 'refusals',
    title: 'Refusals',
    description: 'The refusals of tools by code, and what to do about each.',
    text: refusals(),
  },
]
