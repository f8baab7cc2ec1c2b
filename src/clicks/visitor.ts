// Who a visitor is to us: a random id in a first-party cookie.
import { randomUUID } from 'node:crypto'

/** A visitor; `cookie` is the Set-Cookie header that a new one gets. */
export type Visitor = { readonly id: string; readonly is_new: boolean; readonly cookie: string | undefined }

/** The longest that browsers keep a cookie. */
const KEPT_SECONDS = 400 * 86_400
const COOKIE = /(?:^|;\s*)sluice_v=([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:;|$)/

/** The visitor a Cookie header names, or a new one. `isSecure`: the service is reached by https. */
export function visitorOf(cookies: string | string[] | undefined, isSecure: boolean): Visitor {
  const header = Array.isArray(cookies) ? cookies.join(';') : cookies
  const id = header === undefined ? undefined : COOKIE.exec(header)?.[1]
  if (id !== undefined) return { id, is_new: false, cookie: undefined }
  const fresh = randomUUID()
  const cookie = `sluice_v=${fresh}; Max-Age=${KEPT_SECONDS}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  return { id: fresh, is_new: true, cookie }
}
