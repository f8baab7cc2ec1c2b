/**
 * Links that lead into Telegram, as everyone speaks of them: a bot that is started, or a Mini App that is opened, with a parameter that hands
 * it the click. The letters and lengths are Telegram's (core.telegram.org/bots/features#deep-linking, …/bots/webapps#direct-link-mini-apps).
 */
import { z } from 'zod'
import { toUuid, WIRE_ID_LENGTH } from './ids.ts'

/** Names of Telegram's that answer alike. Some networks and some providers block one of them. */
export const LINK_HOSTS = ['t.me', 'telegram.me'] as const
type LinkHost = (typeof LINK_HOSTS)[number]

/** Where a link leads that nobody knows yet. */
export const TELEGRAM = `https://${LINK_HOSTS[0]}/`

/** How a visitor gets into Telegram: by the link itself, or by a page of ours that opens the app. */
const OPENINGS = ['direct', 'page'] as const
type Opening = (typeof OPENINGS)[number]

/** What of Telegram a link may lead to. */
type TelegramType = 'bot' | 'mini_app'

const CLICK_ID = '{click_id}'
/** The longest parameters that Telegram hands on. */
const LONGEST: Record<TelegramType, number> = { bot: 64, mini_app: 512 }
export const LONGEST_START = LONGEST.mini_app - WIRE_ID_LENGTH + CLICK_ID.length

/** Why a start parameter cannot be taken, as the end of a sentence about it, or undefined for a good one. */
export function faultOfStart(type: TelegramType, start: string): string | undefined {
  const front = LONGEST[type] - WIRE_ID_LENGTH
  if (!start.endsWith(CLICK_ID)) return `must end with ${CLICK_ID}, or the start would belong to no click`
  const own = start.slice(0, -CLICK_ID.length)
  if (own === '') return undefined
  if (!/^[A-Za-z0-9_-]*$/.test(own))
    return `may hold A-Z, a-z, 0-9, _ and - before ${CLICK_ID}, as Telegram passes no others on`
  if (!/[_-]$/.test(own)) return `must have - or _ right before ${CLICK_ID}, such as promo-${CLICK_ID}`
  return own.length > front ? `may hold at most ${front} characters before ${CLICK_ID}` : undefined
}

export const LONGEST_APP = 30

/** Why a name cannot be that of a Mini App, likewise. */
export const faultOfApp = (app: string): string | undefined =>
  /^[A-Za-z0-9_]{3,30}$/.test(app) ? undefined : 'must be its short name at BotFather: 3 to 30 of A-Z, a-z, 0-9 and _'

/** A text that `fault` finds nothing wrong with. */
const checked = (fault: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const message = fault(text)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })

/** The parameter of a link, by what it leads to. */
export const StartOf = (type: TelegramType) =>
  checked(text => faultOfStart(type, text)).meta({
    description: `The parameter it is opened with; ${CLICK_ID} alone unless given. Your own in front ends with - or _`,
    examples: [`promo-${CLICK_ID}`],
  })

export const AppName = checked(faultOfApp).meta({
  description: "The app's short name, as in t.me/<bot>/<app>; the bot's main Mini App unless given",
})

export const LinkHost = z.enum(LINK_HOSTS).meta({ description: 'Under which name of Telegram the link leads there' })

export const Opening = z.enum(OPENINGS).meta({
  description:
    'direct: a redirect to the link. page: a small page that tries to open the app and shows the link, for browsers inside other apps',
})

/** Where a link leads and how; what is left out is as it is by default. */
export type TelegramPlace = {
  readonly type: TelegramType
  readonly app?: string | null | undefined
  readonly start?: string | null | undefined
  readonly open?: Opening | null | undefined
  readonly link_host?: LinkHost | null | undefined
}

/** The address of a place, in which {click_id} is a macro, and the same as Telegram's apps open it. `username` is the bot's, without @. */
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

/** What an invite link looks like. */
export const EXAMPLE_LINK = `${TELEGRAM}+AAAAAEXAMPLEAAAA`

/** An address of Telegram's that leads into a chat, under the name of Telegram that is wished for, and the same as its apps open it. */
export function chatLink(url: string, link_host: LinkHost | null | undefined): { url: string; app_url: string } {
  const { pathname } = new URL(url)
  const [, invitation] = /^\/(?:\+|joinchat\/)([\w-]+)$/.exec(pathname) ?? []
  return {
    url: `https://${link_host ?? LINK_HOSTS[0]}${pathname}`,
    app_url: invitation === undefined ? `tg://resolve?domain=${pathname.slice(1)}` : `tg://join?invite=${invitation}`,
  }
}

const OWN_IN_FRONT = /[_-]$/
/** Of ids in their three forms. */
const LENGTHS = [WIRE_ID_LENGTH, 36, 32]

/** The click that a start parameter hands on, as a canonical uuid: it is its id, or ends with `-` or `_` and the id. Else undefined. */
export function clickOfStart(parameter: string): string | undefined {
  const whole = toUuid(parameter)
  if (whole !== undefined) return whole
  for (const length of LENGTHS) {
    const id = OWN_IN_FRONT.test(parameter.slice(0, -length)) ? toUuid(parameter.slice(-length)) : undefined
    if (id !== undefined) return id
  }
  return undefined
}
