/**
 * Postbacks whose status the network's map ignores, such as a chargeback. If the conversion is recorded, the status differs from the recorded one, and
 * the postback is kept with both. Otherwise it is kept as ignored.
 */
import type pg from 'pg'
import { toUuid, toWireId } from '../../contract/ids.ts'
import type { Refusal } from '../../contract/refusals.ts'
import type { StoredEvent } from '../events/organization-state.ts'
import { EVENT_COLUMNS } from '../events/reads.ts'
import { differingFrom } from '../refused-events/difference.ts'
import { Ignored } from './meaning.ts'
import { type Fields, identityOf, type NetworkMaps, sentPayout } from './read-call.ts'

/** The newest conversion with the transaction id, because it has the latest status. */
const FIND = `
  select ${EVENT_COLUMNS}
  from events e
  where e.org_id = $1 and e.click_id = $2 and e.nonce is not distinct from $3
    and e.source = 'network' and e.payload ->> 'network_id' = $4
  order by e.created_at desc, e.id desc
  limit 1`

type PostbackCall = { readonly org_id: number; readonly network_id: string; readonly fields: Fields }

/**
 * The refusal to keep for a postback that was refused with `error`. It is `Differing` if the status is ignored and this network's conversion of the
 * same click and transaction id is recorded with another status; else the error itself. Throws the database's error.
 */
export async function ignoredCallRefusal(
  pool: Pick<pg.Pool, 'query'>,
  { org_id, network_id, fields }: PostbackCall,
  maps: NetworkMaps,
  error: Refusal,
): Promise<Refusal> {
  if (!(error instanceof Ignored)) return error
  const { click, nonce } = identityOf(fields, maps.parameters)
  const click_id = toUuid(click?.text.trim() ?? '')
  if (click_id === undefined) return error
  const { rows } = await pool.query<StoredEvent>(FIND, [org_id, click_id, nonce ?? null, toWireId(network_id)])
  const [event] = rows
  if (event === undefined) return error
  const sent = { status: error.status_sent, payout: sentPayout(fields, maps) }
  return differingFrom(sent, event) ?? error
}
