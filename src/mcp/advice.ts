/** What to do about refusals that the route leaves bare, or of which it cannot know what a tool has at hand. */
import { toWireId } from '../contract/ids.ts'
import type { RefusalBody } from '../contract/refusals.ts'
import type { KeyRecord } from '../people/keys/verify.ts'
import type { Tool } from './tool.ts'

type Refused = RefusalBody & { readonly status: number }

/** The hint of a refusal, in words for a model that calls this tool; the route's own where it says it all. */
export function adviceOn(tool: Tool, { status, code, error, hint }: Refused, record: KeyRecord): string | undefined {
  if (code === 'campaign_scope_forbidden')
    return `${restrictionOf(record)} Use one of them, or ask a workspace owner or admin to add this one to the key.`
  if (status === 404) return unknownRow(tool)
  if (status === 403 && code === undefined)
    return /bot/i.test(error)
      ? 'Give bot_username or bot_id in payload as the dashboard shows them under Bots; with a single bot leave both out.'
      : 'No click of this workspace has this id. Take clickId from service_list_clicks (its id), or from what {click_id} became in an address.'
  return status === 429 ? 'Wait for the seconds in retry_after, then make the same call again.' : hint
}

/** More than these would fill the answer and the model's memory with ids. */
const MOST_NAMED = 10

/** Which campaigns a restricted key may touch; of any other key nothing. */
export function restrictionOf({ grant }: KeyRecord): string {
  const campaigns = grant?.campaigns ?? null
  if (campaigns === null) return ''
  const ids = campaigns.slice(0, MOST_NAMED).map(id => toWireId(id))
  const more = campaigns.length > MOST_NAMED ? ` and ${campaigns.length - MOST_NAMED} more` : ''
  return `This key is restricted to ${campaigns.length === 1 ? 'campaign' : 'campaigns'} ${ids.join(', ') || 'none'}${more}; one it creates is not added.`
}

function unknownRow({ shown, own }: Tool): string {
  const { properties } = shown.inputSchema
  const name = own.find(one => one.endsWith('_id')) ?? 'campaign_id'
  const source = properties[name]?.['description']
  return `There is none with this ${name} in the workspace of this key, or it was deleted. ${typeof source === 'string' ? source : ''}`.trim()
}
