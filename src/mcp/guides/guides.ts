/**
 * Guides: what stands in no description because it is long, written from the same lists the routes validate with. They are the same for
 * every key and hold no row of anyone.
 */
import { EVENT_TYPE_LABELS, EVENT_TYPES } from '../../contract/event-types.ts'
import { FlowNode, LONGEST_PATH, NODE_TYPES } from '../../contract/flow-graph.ts'
import { REFUSALS, type RefusalName } from '../../contract/refusal-catalogue.ts'
import { POSTBACK_MACROS } from '../../outgoing/postbacks/api.ts'
import { MACROS } from '../../traffic/addresses/macros.ts'
import { TOOLS } from '../tools/all.ts'
import { EXAMPLE } from '../tools/click-flows.ts'

type Guide = { readonly name: string; readonly title: string; readonly description: string; readonly text: string }

const lines = (...all: readonly string[]): string => `${all.join('\n')}\n`
const braced = (names: readonly string[]): string => names.map(name => `\`{${name}}\``).join(', ')

function macros(): string {
  return lines(
    '# Macros',
    '',
    `In addresses visitors are sent to (offers, landings, redirects, fallbacks): ${braced(MACROS)}.`,
    '',
    `In addresses of postback rules: ${braced(POSTBACK_MACROS)}. Payout is none.`,
    '',
    '- Names are understood in any case. Values are percent-encoded; a value that is not known is empty.',
    '- What stands in braces and is no macro is left out of the address: `{clickid}` sends nothing.',
    '- They stand behind the host only: in the path, the query or the fragment.',
    '- In the link pasted at a traffic source the braces are for the macros of that source; one that it does not replace counts as not sent.',
  )
}

/** What each type of node needs and where it may lead. */
const NODES: Readonly<Record<(typeof NODE_TYPES)[number], string>> = {
  entry: 'exactly one; one edge leads on',
  condition: '`field` and what it asks for; one edge with branch yes, one with branch no',
  split: 'two or more edges with `weight`',
  landing: '`landing_id`; ends the path, or one edge to the offer, bot, Mini App or channel behind its link',
  offer: '`offer_id`; ends the path',
  bot: '`bot_id`; ends the path',
  mini_app: 'a Mini App of `bot_id`; ends the path. Made in the dashboard: service_create_click_flow does not take it',
  channel: 'an invite link of `channel_id`; ends the path. Made in the dashboard as well',
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
    'A flow is drawn once: no tool changes its graph. Create a new one, publish it, and lead the campaign to it.',
    `No circles; a path has at most ${LONGEST_PATH} nodes. Fields of other types of node are ignored, a name that is not known is refused.`,
    '',
    ...NODE_TYPES.map(type => `- \`${type}\`: ${NODES[type]}`),
    '',
    '## What conditions ask',
    '',
    ...fields,
    '',
    '## A whole graph',
    '',
    '```json',
    JSON.stringify(EXAMPLE, null, 2),
    '```',
  )
}

function eventTypes(): string {
  return lines(
    '# Event types',
    '',
    ...EVENT_TYPES.map(type => `- \`${type}\`: ${EVENT_TYPE_LABELS[type]}`),
    '',
    'A click rises along clicked, landed, started, registered, lead, deposit, ftd by land, bot_start, registration, lead, deposit and ftd; ' +
      'other types leave it where it is.',
    '',
    'Sluice records bot_start, channel_join, join_request, miniapp_launch, purchase, subscription_renewed and subscription_cancelled by itself ' +
      'where a bot tells it; sent as well, they count twice.',
  )
}

/** What the door refuses before any route does. */
const AT_THE_DOOR: readonly RefusalName[] = [
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

function refusals(): string {
  const names = new Set([...AT_THE_DOOR, ...TOOLS.flatMap(({ endpoint }) => endpoint.refuses ?? [])])
  const rows = [...names].map(name => {
    const { status, error, code, hint }: (typeof REFUSALS)[RefusalName] & { code?: string; hint?: string } =
      REFUSALS[name]
    return `- ${status}${code === undefined ? '' : ` \`${code}\``}: ${error}${hint === undefined ? '' : `. ${hint}`}`
  })
  return lines(
    '# Refusals',
    '',
    'A refusal is a result with isError whose text is JSON: status, error, and where there are any code, hint, slug, tier, retry_after. ' +
      'Repeating a call helps after 429 and 503 alone, when retry_after seconds are over.',
    '',
    ...rows,
  )
}

export const GUIDES: readonly Guide[] = [
  {
    name: 'macros',
    title: 'Macros of addresses',
    description: 'Which macros an address may hold, where each is filled in, and what happens to others.',
    text: macros(),
  },
  {
    name: 'click-flows',
    title: 'Click flows',
    description: 'The nodes and edges of a flow, what conditions ask, and a whole graph.',
    text: clickFlows(),
  },
  {
    name: 'event-types',
    title: 'Event types',
    description: 'The types a conversion may have, which of them Sluice records itself, and how a click rises by them.',
    text: eventTypes(),
  },
  {
    name: 'refusals',
    title: 'Refusals',
    description: 'What a tool may refuse, by code, and what to do then.',
    text: refusals(),
  },
]
