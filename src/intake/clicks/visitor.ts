// The first-party cookies of visitors: their id, their last visit, their invite link, and the click of their landing page.
import { MOST_HOURS } from '../../contract/flow-graph.ts'
import { newId, toUuid, toWireId } from '../../contract/ids.ts'
import type { Secrets } from '../../ground/db/secrets.ts'

/** A visitor; `cookie` is the Set-Cookie header that a new one gets. */
export type Visitor = { readonly id: string; readonly is_new: boolean; readonly cookie: string | undefined }

/** The longest that browsers keep a cookie. */
const KEPT_SECONDS = 400 * 86_400
const ID = named(['vis_id', 'sluice_v'], '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}')

/** Matches a cookie by its name and by its former name: browsers keep cookies for up to 400 days. */
function named(names: readonly [now: string, before: string], value: string): readonly RegExp[] {
  return names.map(name => new RegExp(`(?:^|;\\s*)${name}=(${value})(?:;|$)`))
}

/** The value of a cookie that `named` describes. If both names are there, the new one counts: it was set later. */
function valueOf(cookies: string | string[] | undefined, forms: readonly RegExp[]): string | undefined {
  if (cookies === undefined) return undefined
  const header = Array.isArray(cookies) ? cookies.join(';') : cookies
  for (const form of forms) {
    const value = form.exec(header)?.[1]
    if (value !== undefined) return value
  }
  return undefined
}

/** The visitor that a Cookie header names, or a new one. `isSecure`: the request came by https. */
export function visitorOf(cookies: string | string[] | undefined, isSecure: boolean): Visitor {
  const id = valueOf(cookies, ID)
  if (id !== undefined) return { id, is_new: false, cookie: undefined }
  // Its time tells later whether the visitor came after the end of a split test.
  const fresh = newId()
  const cookie = `vis_id=${fresh}; Max-Age=${KEPT_SECONDS}; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  return { id: fresh, is_new: true, cookie }
}

/** The longest time that a condition of a click flow may ask for. */
const SEEN_SECONDS = MOST_HOURS * 3600
const SEEN = named(['vis_seen', 'sluice_t'], '[0-9a-z]{1,9}\\.[\\w-]{16}')

/** The cookie with the last visit, signed for the campaign and the visitor, so that it is valid for no other. */
export type VisitHistory = {
  /** The time of the visitor's last visit, Unix milliseconds; null without a cookie. */
  readonly lastSeen: () => number | null
  /** The Set-Cookie header with the time of this visit. The browser sends it back only to the same campaign link. */
  readonly cookie: (ms: number) => string
}

/** A visitor's visits of a campaign, from their cookies. `url` is the URL of this visit. */
export function visitsOf(
  secrets: Pick<Secrets, 'mac'>,
  of: { campaign_id: string; visitor_id: string },
  { cookies, url, isSecure }: { cookies: string | string[] | undefined; url: string; isSecure: boolean },
): VisitHistory {
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

/** A visitor who comes back within this time gets the same invite link, so that reloads use up no links. */
const LINK_SECONDS = 1800
const LINK = named(['vis_link', 'sluice_l'], '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}')

/** The Set-Cookie header with the visitor's invite link. The browser sends it back only to the same campaign link. */
export function linkCookie(link_id: string, url: string, isSecure: boolean): string {
  return `vis_link=${link_id}; Max-Age=${LINK_SECONDS}; Path=${pathOf(url)}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
}

/** The invite link's id from a `linkCookie`. */
export function linkOfCookie(cookies: string | string[] | undefined): string | undefined {
  return valueOf(cookies, LINK)
}

const pathOf = (url: string): string => url.split(/[?#;]/, 1)[0] ?? '/c'

/** Visitors leave a landing page for its offer at once, or some days later when they find its tab again. */
const ONWARD_SECONDS = 30 * 86_400
const ONWARD = named(['vis_click', 'sluice_c'], '[0-9a-z]{26}')

/**
 * The Set-Cookie header by which `/o` knows the click without its id in the link. The browser sends it back only to `/o`, also from a landing page
 * on another domain, because following a link is a first-party visit.
 */
export function onwardCookie(click_id: string, isSecure: boolean): string {
  return `vis_click=${toWireId(click_id)}; Max-Age=${ONWARD_SECONDS}; Path=/o; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
}

/** The click id from an `onwardCookie`, as a uuid. */
export function clickOfCookie(cookies: string | string[] | undefined): string | undefined {
  const id = valueOf(cookies, ONWARD)
  return id === undefined ? undefined : toUuid(id)
}
