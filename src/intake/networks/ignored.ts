/**
 * What a network says of a conversion by a word that its map ignores, such as a chargeback. Where the conversion is recorded, the word
 * differs from what stands there, and is kept as such; where none is, there is nothing to say of it.
 */
import type pg from 'pg'
import { toUuid, toWireId } from '../../contract/ids.ts'
import type { Refusal } from '../../contract/refusals.ts'
import type { StoredEvent } from '../events/known.ts'
import { EVENT_COLUMNS } from '../events/reads.ts'
import { differingFrom } from '../refused-events/difference.ts'
import { Ignored } from './meaning.ts'
import { type Fields, identityOf, type Reading, sentPayout } from './read-call.ts'

/** Of several types under one transaction id the newest: the latest word that was recorded of it. */
const FIND = `
  select ${EVENT_COLUMNS}
  from events e
  where e.org_id = $1 and e.click_id = $2 and e.nonce is not distinct from $3
    and e.source = 'network' and e.payload ->> 'network_id' = $4
  order by e.created_at desc, e.id desc
  limit 1`

type Call = { readonly org_id: number; readonly network_id: string; readonly fields: Fields }

/**
 * What a call that was refused with `error` is kept as: where its status is ignored, and this network's conversion of the same click
 * and transaction id is recorded with another status, `Differing`; else the error itself. Throws what the database throws.
 */
export async function refusalOf(
  pool: Pick<pg.Pool, 'query'>,
  { org_id, network_id, fields }: Call,
  reading: Reading,
  error: Refusal,
): Promise<Refusal> {
  if (!(error instanceof Ignored)) return error
  const { click, nonce } = identityOf(fields, reading.parameters)
  const click_id = toUuid(click?.text.trim() ?? '')
  if (click_id === undefined) return error
  const { rows } = await pool.query<StoredEvent>(FIND, [org_id, click_id, nonce ?? null, toWireId(network_id)])
  const [event] = rows
  if (event === undefined) return error
  const sent = { status: error.word, payout: sentPayout(fields, reading) }
  return differingFrom(sent, event) ?? error
}
