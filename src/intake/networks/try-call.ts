/** Tests how a network's postback is read. Records nothing, and reads no click. */
import type { Call } from '../../contract/endpoint.ts'
import { Refusal, refuse } from '../../contract/refusals.ts'
import { type Context, idOf } from '../../ground/room.ts'
import type * as api from './api.ts'
import { mapsOf } from './networks.ts'
import { readCall, readFields } from './read-call.ts'

/** Reads a postback by the given maps, else by the saved ones. Refuses `object_not_found`. */
export async function tryNetworkCall(
  { db, actor }: Context<typeof api.tryNetworkCall>,
  { params, body }: Call<typeof api.tryNetworkCall>,
) {
  const { org_id } = actor
  const network_id = idOf(params.id)
  const saved = (await mapsOf(db, org_id, network_id)) ?? refuse('object_not_found')
  const { call, ...maps } = body
  const given = Object.fromEntries(Object.entries(maps).filter(([, map]) => map !== undefined))
  try {
    const read = readCall(fieldsOf(call), { ...saved, ...given }, { org_id, network_id, arrived_at: performance.now() })
    if (read.kind === 'revision') {
      const { click_id, of, status: verdict, amount, foreign } = read
      const payout = foreign?.amount ?? amount ?? null
      const currency = payout === null ? null : (foreign?.currency ?? 'USD')
      const transaction_id = 'nonce' in of ? of.nonce : null
      return replyOf({ click_id, transaction_id, type: null, by_offer: false, verdict, payout, currency })
    }
    const { click_id, nonce: transaction_id, type, isByOffer: by_offer = false, standing, foreign } = read
    const payout = foreign?.amount ?? read.payout ?? null
    const currency = payout === null ? null : (foreign?.currency ?? 'USD')
    const verdict = standing?.says === 'pending' ? ('pending' as const) : null
    return replyOf({ click_id, transaction_id, type, by_offer, verdict, payout, currency })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { reads_as: null, error: error.message }
  }
}

const replyOf = <Read>(reads_as: Read) => ({ reads_as, error: null })

/** The parameters of a pasted URL, query, form or JSON object. */
function fieldsOf(call: string) {
  const mark = call.startsWith('{') ? -1 : call.indexOf('?')
  return mark < 0 ? readFields('', Buffer.from(call)) : readFields(call.slice(mark + 1), undefined)
}
