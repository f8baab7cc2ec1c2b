/**
 * The feed's cursor: the last id of the page, the bounds if they were defaulted, and a MAC over both and the organization, so that no other
 * organization can use it and nobody can change it. It holds no filters or limit: each request sends them.
 */
import { timingSafeEqual } from 'node:crypto'
import { refuse } from '../../contract/refusals.ts'
import type { Window } from '../../contract/window.ts'
import type { Secrets } from '../../ground/db/secrets.ts'

/** `bounds`: the window that "the last 30 days" was on the first page. */
type Cursor = { readonly id: string; readonly bounds?: Window }

const ID_BYTES = 16
const BOUND_BYTES = 8
const MAC_BYTES = 16
const PURPOSE = 'click feed cursor'

/** The cursor as text for a URL. */
export function sealCursor(secrets: Pick<Secrets, 'mac'>, org_id: number, { id, bounds }: Cursor): string {
  const body = Buffer.alloc(ID_BYTES + (bounds ? 2 * BOUND_BYTES : 0))
  body.write(id.replaceAll('-', ''), 'hex')
  if (bounds) {
    body.writeDoubleBE(bounds.from, ID_BYTES)
    body.writeDoubleBE(bounds.to, ID_BYTES + BOUND_BYTES)
  }
  return Buffer.concat([body, macOf(secrets, org_id, body)]).toString('base64url')
}

/** Refuses `invalid_cursor` for any text that `sealCursor` did not return for this organization. */
export function openCursor(secrets: Pick<Secrets, 'mac'>, org_id: number, text: string): Cursor {
  const bytes = Buffer.from(text, 'base64url')
  const body = bytes.subarray(0, -MAC_BYTES)
  const hasBounds = body.length === ID_BYTES + 2 * BOUND_BYTES
  if (body.length !== ID_BYTES && !hasBounds) refuse('invalid_cursor')
  if (!timingSafeEqual(bytes.subarray(-MAC_BYTES), macOf(secrets, org_id, body))) refuse('invalid_cursor')
  // Base64 is decoded leniently, so several texts give the same bytes.
  if (bytes.toString('base64url') !== text) refuse('invalid_cursor')
  const id = body.toString('hex', 0, ID_BYTES).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  if (!hasBounds) return { id }
  return { id, bounds: { from: body.readDoubleBE(ID_BYTES), to: body.readDoubleBE(ID_BYTES + BOUND_BYTES) } }
}

function macOf(secrets: Pick<Secrets, 'mac'>, org_id: number, body: Buffer): Buffer {
  return secrets.mac(PURPOSE, `${org_id} ${body.toString('hex')}`).subarray(0, MAC_BYTES)
}
