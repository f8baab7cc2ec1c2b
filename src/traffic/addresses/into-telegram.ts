// Links into Telegram, compiled once per place and version of its bot: a visitor costs a look into two maps.
import { type TelegramPlace, telegramLink } from '../../contract/telegram.ts'
import { compileTemplate, type Template } from './macros.ts'

/** A compiled link. `app_link` is what the page that opens the app tries, up to the click id it ends with; undefined where no page is wanted. */
type IntoTelegram = { readonly template: Template | undefined; readonly app_link: string | undefined }

type NamedBot = { readonly username: string }

const links = new WeakMap<TelegramPlace, { readonly bot: NamedBot; readonly link: IntoTelegram }>()

/** The link of a place; the object of a place stands for what is in it and is never changed, as are those of bots in memory. */
export function intoTelegram(place: TelegramPlace, bot: NamedBot): IntoTelegram {
  const known = links.get(place)
  if (known?.bot === bot) return known.link
  const { url, app_url } = telegramLink(bot.username, place)
  const app_link = place.open === 'page' ? app_url.replace('{click_id}', '') : undefined
  const link = { template: compileTemplate(url), app_link }
  links.set(place, { bot, link })
  return link
}
