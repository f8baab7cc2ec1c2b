// The addresses of what campaigns lead to, compiled once per version of the object.
import { startLink } from '../../contract/address.ts'
import { compileTemplate, type Template } from './macros.ts'

/** An offer, a landing, or a bot. */
type Leading = { readonly url: string } | { readonly username: string }

const templates = new WeakMap<Leading, Template | undefined>()

/** The address of an offer or a landing; of a bot, the link that starts it with the id of the click. */
export function templateOf(object: Leading): Template | undefined {
  if (!templates.has(object))
    templates.set(object, compileTemplate('url' in object ? object.url : startLink(object.username)))
  return templates.get(object)
}
