// Who a visitor is to us: a random id in a first-party cookie; and which click brought him to the landing page he looks at.
import { randomUUID } from 'node:crypto'
import { MOST_HOURS } from '../../contract/flow-graph.ts'
import { toUuid, toWireId } from '../../contract/ids.ts'
import type { Secrets } from '../../ground/db/secrets.ts'

/** A visitor; `cookie` is the Set-Cookie header that a new one gets. */
export type Visitor = { readonly id: string; readonly is_new: boolean; readonly cookie: string | undefined }

/** The longest that browsers keep a cookie. */
const KEPT_SECONDS = 400 * 86_400
const ID = named(['vis_id', 'sluice_v'], '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}')

/** Matches a cookie by its name, and by the name it was set under before: browsers keep those for up to 400 days. */
function named(names: readonly [now: string, before: string], value: string): readonly RegExp[] {
  return names.map(name => new RegExp(`(?:^|;\\s*)${name}=(${value})(?:;|$)`))
}

/** The value of a cookie that `named` describes. Where both are there, the new name counts: it was set later. */
function valueOf(cookies: string | string[] | undefined, forms: readonly RegExp[]): string | undefined {
  if (cookies === undefined) return undefined
  const header = Array.isArray(cookies) ? cookies.join(';') : cookies
  for (const form of forms) {
    const value = form.exec(header)?.[1]
    if (value !== undefined) return value
  }
  return undefined
}

/** The visitor a Cookie header names, or a new one. `isSecure`: they came by https. */
export function visitorOf(cookies: string | string[] | undefined, isSecure: boolean): Visitor {
  const id = valueOf(cookies, ID)
  if (id !== undefined) return { id, is_new: false, cookie: undefined }
  const fresh = randomUUID()
  const cookie = `vis_id=${fresh}; Max-Age=${KEPT_SECONDS}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  return { id: fresh, is_new: true, cookie }
}

/** As long as anybody may ask for. */
const SEEN_SECONDS = MOST_HOURS * 3600
const SEEN = named(['vis_seen', 'sluice_t'], '[0-9a-z]{1,9}\\.[\\w-]{16}')

/** What a visit leaves in the visitor's browser: signed for the campaign and the visitor, so that it is worth nothing elsewhere. */
export type Visits = {
  /** When the visitor was last seen, Unix; null where no cookie says so. */
  readonly lastSeen: () => number | null
  /** The Set-Cookie header that says when this was. It comes back on visits of the same address alone. */
  readonly cookie: (ms: number) => string
}

/** The visits of someone to a campaign, as their cookies say. `url` is the address that is visited now. */
export function visitsOf(
  secrets: Pick<Secrets, 'mac'>,
  of: { campaign_id: string; visitor_id: string },
  { cookies, url, isSecure }: { cookies: string | string[] | undefined; url: string; isSecure: boolean },
): Visits {
  const sign = (seconds: string) =>
    secrets.mac('last seen', `${of.campaign_id} ${of.visitor_id} ${seconds}`).toString('base64url').slice(0, 16)
  return {
    lastSeen() {
      const [seconds, mac] = valueOf(cookies, SEEN)?.split('.') ?? []
      return seconds === undefined || sign(seconds) !== mac ? null : Number.parseInt(seconds, 36) * 1000
    },
    cookie(ms) {
      const seconds = Math.floor(ms / 1000).toString(36)
      return `vis_seen=${seconds}.${sign(seconds)}; Max-Age=${SEEN_SECONDS}; Path=${pathOf(url)}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
    },
  }
}

/** Reloading a page takes no links: who comes again meanwhile is led to the one he has. */
const LINK_SECONDS = 1800
const LINK = named(['vis_link', 'sluice_l'], '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}')

/** The Set-Cookie header that says which invite link a visit was led to. It comes back on visits of the same address alone. */
export function linkCookie(link_id: string, url: string, isSecure: boolean): string {
  return `vis_link=${link_id}; Max-Age=${LINK_SECONDS}; Path=${pathOf(url)}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
}

/** The id a `linkCookie` names. */
export function linkOfCookie(cookies: string | string[] | undefined): string | undefined {
  return valueOf(cookies, LINK)
}

const pathOf = (url: string): string => url.split(/[?#;]/, 1)[0] ?? '/c'

/** A landing page is left for its offer within the visit, or when it is found again in a tab some days later. */
const ONWARD_SECONDS = 30 * 86_400
const ONWARD = named(['vis_click', 'sluice_c'], '[0-9a-z]{26}')

/**
 * The Set-Cookie header that lets `/o` know the click without its id in the link. It comes back on the way to `/o` alone, also from a landing
 * page of another domain, because following a link is a visit to us.
 */
export function onwardCookie(click_id: string, isSecure: boolean): string {
  return `vis_click=${toWireId(click_id)}; Max-Age=${ONWARD_SECONDS}; Path=/o; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
}

/** The click an `onwardCookie` names, as a uuid. */
export function clickOfCookie(cookies: string | string[] | undefined): string | undefined {
  const id = valueOf(cookies, ONWARD)
  return id === undefined ? undefined : toUuid(id)
}
