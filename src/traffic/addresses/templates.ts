// The addresses of what campaigns lead to, compiled once per version of the object.
import { compileTemplate, type Template } from './macros.ts'

/** An offer or a landing. */
type Leading = { readonly url: string }

const templates = new WeakMap<Leading, Template | undefined>()

/** The address of an offer or a landing. */
export function templateOf(object: Leading): Template | undefined {
  if (!templates.has(object)) templates.set(object, compileTemplate(object.url))
  return templates.get(object)
}
