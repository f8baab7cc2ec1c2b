/**
 * Fills in the macros of a rule's address. Values come from visitors, so they are percent-encoded, and the result must have the same origin as the
 * rule's address.
 */
import { MACRO, type PostbackMacro } from './api.ts'

/** The values of the macros; null fills in nothing. */
export type PostbackMacroValues = Readonly<Record<PostbackMacro, string | null>>

const encoded = (value: string) =>
  encodeURIComponent(value).replace(/[!'()*]/g, letter => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)

/** The address with its macros filled in; unknown ones are removed. Undefined if it would leave the rule's origin. */
export function fillMacros(template: string, values: PostbackMacroValues): string | undefined {
  const pathEnd = `${template}?`.search(/[?#]/)
  const filled = template.replace(MACRO, (_, name: string | undefined, at: number) => {
    const value = encoded(valueOf(values, name?.toLowerCase() ?? '') ?? '')
    // Percent-encoding leaves dots, and as a path segment they would leave the rule's path.
    return at < pathEnd && /^\.{1,2}$/.test(value) ? '' : value
  })
  const url = URL.parse(filled)
  const origin = URL.parse(template)?.origin
  return url !== null && url.origin === origin && url.username === '' && url.password === '' ? url.href : undefined
}

function valueOf(values: PostbackMacroValues, name: string): string | null | undefined {
  return Object.hasOwn(values, name) ? values[name as PostbackMacro] : undefined
}
