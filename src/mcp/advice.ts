/** Hints for refusals where the route gives none, or where a tool can give a better one. */
import { toWireId } from '../contract/ids.ts'
import type { RefusalBody } from '../contract/refusals.ts'
import type { KeyRecord } from '../people/keys/verify.ts'
import type { Tool } from './tool.ts'

type Refused = RefusalBody & { readonly status: number }

/** The hint of a refusal for a model that calls this tool. By default the route's own. */
export function adviceOn(tool: Tool, { status, code, error, hint }: Refused, record: KeyRecord): string | undefined {
  if (code === 'campaign_scope_forbidden')
    return `${restrictionOf(record)} Use one of them, or ask a workspace owner or admin to add this one to the key.`
  if (status === 404) return unknownRow(tool)
  if (status === 403 && code === undefined)
    return /bot/i.test(error)
      ? 'Give bot_username or bot_id in payload as the dashboard shows them under Bots. With a single bot omit both.'
      : 'No click of this workspace has this id. Use the id from service_list_clicks, or the value that replaced {click_id} in an address.'
  return status === 429 ? 'Wait retry_after seconds, then repeat the same call.' : hint
}

/** The most ids listed. More would fill the model's context. */
const MOST_NAMED = 10

/** One sentence on the campaigns of a restricted key, with at most `most` ids. Empty for any other key. */
export function restrictionOf({ grant }: KeyRecord, most = MOST_NAMED): string {
  const campaigns = grant?.campaigns ?? null
  if (campaigns === null) return ''
  const ids = campaigns.slice(0, most).map(id => toWireId(id))
  const more = campaigns.length > most ? ` and ${campaigns.length - most} more` : ''
  return `This key is restricted to ${campaigns.length === 1 ? 'campaign' : 'campaigns'} ${ids.join(', ') || 'none'}${more}. Campaigns it creates are not added.`
}

function unknownRow({ shown, own }: Tool): string {
  const { properties } = shown.inputSchema
  const name = own.find(one => one.endsWith('_id')) ?? 'campaign_id'
  const source = properties[name]?.['description']
  return `The workspace of this key has no object with this ${name}, or it was deleted. ${typeof source === 'string' ? source : ''}`.trim()
}
