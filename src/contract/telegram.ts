/**
 * Links into Telegram that start a bot or open a Mini App, with a parameter that passes the click id. Characters and lengths are Telegram's
 * (core.telegram.org/bots/features#deep-linking, …/bots/webapps#direct-link-mini-apps).
 */
import { z } from 'zod'
import { toUuid, WIRE_ID_LENGTH } from './ids.ts'

/** Equivalent host names of Telegram. Some networks and providers block one of them. */
export const LINK_HOSTS = ['t.me', 'telegram.me'] as const
type LinkHost = (typeof LINK_HOSTS)[number]

/** The address for a link whose target is unknown. */
export const TELEGRAM = `https://${LINK_HOSTS[0]}/`

/** Whether a visitor is redirected to the link, or gets a page that opens the app. */
const OPENINGS = ['direct', 'page'] as const
type Opening = (typeof OPENINGS)[number]

type TelegramType = 'bot' | 'mini_app'

const CLICK_ID = '{click_id}'
/** The longest parameters that Telegram passes on. */
const LONGEST: Record<TelegramType, number> = { bot: 64, mini_app: 512 }
export const LONGEST_START = LONGEST.mini_app - WIRE_ID_LENGTH + CLICK_ID.length

/** The fault of a start parameter, as the end of a sentence about it. Undefined for a good one. */
export function faultOfStart(type: TelegramType, start: string): string | undefined {
  const front = LONGEST[type] - WIRE_ID_LENGTH
  if (!start.endsWith(CLICK_ID)) return `must end with ${CLICK_ID}, otherwise the start belongs to no click`
  const own = start.slice(0, -CLICK_ID.length)
  if (own === '') return undefined
  if (!/^[A-Za-z0-9_-]*$/.test(own))
    return `may hold only A-Z, a-z, 0-9, _ and - before ${CLICK_ID}, because Telegram passes no others on`
  if (!/[_-]$/.test(own)) return `must have - or _ right before ${CLICK_ID}, such as promo-${CLICK_ID}`
  return own.length > front ? `may hold at most ${front} characters before ${CLICK_ID}` : undefined
}

export const LONGEST_APP = 30

/** The fault of a Mini App's short name, likewise. */
export const faultOfApp = (app: string): string | undefined =>
  /^[A-Za-z0-9_]{3,30}$/.test(app) ? undefined : 'must be its short name at BotFather: 3 to 30 of A-Z, a-z, 0-9 and _'

/** A text without a `fault`. */
const checked = (fault: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const message = fault(text)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })

/** The start parameter of a link of this type. */
export const StartOf = (type: TelegramType) =>
  checked(text => faultOfStart(type, text)).meta({
    description: `The start parameter; by default ${CLICK_ID} alone. Your own text before it must end with - or _`,
    examples: [`promo-${CLICK_ID}`],
  })

export const AppName = checked(faultOfApp).meta({
  description: "The app's short name, as in t.me/<bot>/<app>; by default the bot's main Mini App",
})

export const LinkHost = z.enum(LINK_HOSTS).meta({ description: 'The host name of the link' })

export const Opening = z.enum(OPENINGS).meta({
  description:
    'direct: a redirect to the link. page: a small page that tries to open the app and shows the link, for browsers inside other apps',
})

/** The target of a link. */
export type TelegramPlace = {
  readonly type: TelegramType
  readonly app?: string | null | undefined
  readonly start?: string | null | undefined
  readonly open?: Opening | null | undefined
  readonly link_host?: LinkHost | null | undefined
}

/** The address of a target, with {click_id} as a macro, and its form for Telegram's apps. `username` is the bot's, without @. */
export function telegramLink(username: string, place: TelegramPlace): { url: string; app_url: string } {
  const { type, start, link_host } = place
  const app = type === 'mini_app' ? place.app : null
  const parameter = `${type === 'bot' ? 'start' : 'startapp'}=${start ?? CLICK_ID}`
  return {
    url: `https://${link_host ?? LINK_HOSTS[0]}/${username}${app ? `/${app}` : ''}?${parameter}`,
    app_url: `tg://resolve?domain=${username}${app ? `&appname=${app}` : ''}&${parameter}`,
  }
}

/** The address of a public channel or group. `username` is without @. */
export const publicChat = (username: string): string => `${TELEGRAM}${username}`

/** An example of an invite link. */
export const EXAMPLE_LINK = `${TELEGRAM}+AAAAAEXAMPLEAAAA`

/** The address of a chat with the given host name, and its form for Telegram's apps. */
export function chatLink(url: string, link_host: LinkHost | null | undefined): { url: string; app_url: string } {
  const { pathname } = new URL(url)
  const [, invitation] = /^\/(?:\+|joinchat\/)([\w-]+)$/.exec(pathname) ?? []
  return {
    url: `https://${link_host ?? LINK_HOSTS[0]}${pathname}`,
    app_url: invitation === undefined ? `tg://resolve?domain=${pathname.slice(1)}` : `tg://join?invite=${invitation}`,
  }
}

const OWN_IN_FRONT = /[_-]$/
/** The lengths of the three forms of ids. */
const LENGTHS = [WIRE_ID_LENGTH, 36, 32]

/** The click id of a start parameter, as a canonical uuid. The parameter is the id, or ends with `-` or `_` and the id; else undefined. */
export function clickOfStart(parameter: string): string | undefined {
  const whole = toUuid(parameter)
  if (whole !== undefined) return whole
  for (const length of LENGTHS) {
    const id = OWN_IN_FRONT.test(parameter.slice(0, -length)) ? toUuid(parameter.slice(-length)) : undefined
    if (id !== undefined) return id
  }
  return undefined
}
