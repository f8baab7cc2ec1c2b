// The addresses of offers and landings, compiled once per version of the object.
import { compileTemplate, type AddressTemplate } from './macros.ts'

type OfferOrLanding = { readonly url: string }

const templates = new WeakMap<OfferOrLanding, AddressTemplate | undefined>()

/** The compiled address of an offer or a landing. */
export function templateOf(object: OfferOrLanding): AddressTemplate | undefined {
  if (!templates.has(object)) templates.set(object, compileTemplate(object.url))
  return templates.get(object)
}
