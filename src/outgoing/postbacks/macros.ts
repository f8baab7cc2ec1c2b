/**
 * Fills a rule's address with what a conversion knows. Values come from visitors, so they are percent-encoded, and the
 * result must lead to the very origin the rule names.
 */
import { MACRO, type PostbackMacro } from './api.ts'

/** What the macros stand for; a value that is missing leaves nothing behind. */
export type MacroValues = Readonly<Record<PostbackMacro, string | null>>

const encoded = (value: string) =>
  encodeURIComponent(value).replace(/[!'()*]/g, letter => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)

/** The address with its macros filled in; unknown ones are removed. Undefined when it would leave the rule's own origin. */
export function fillMacros(template: string, values: MacroValues): string | undefined {
  const pathEnd = `${template}?`.search(/[?#]/)
  const filled = template.replace(MACRO, (_, name: string | undefined, at: number) => {
    const value = encoded(valueOf(values, name?.toLowerCase() ?? '') ?? '')
    // Nothing encodes a dot: as a step of the path it would lead out of the rule's own.
    return at < pathEnd && /^\.{1,2}$/.test(value) ? '' : value
  })
  const url = URL.parse(filled)
  const origin = URL.parse(template)?.origin
  return url !== null && url.origin === origin && url.username === '' && url.password === '' ? url.href : undefined
}

function valueOf(values: MacroValues, name: string): string | null | undefined {
  return Object.hasOwn(values, name) ? values[name as PostbackMacro] : undefined
}
