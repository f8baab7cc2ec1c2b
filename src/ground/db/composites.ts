// The database's own notation for composite values inside an array, which the driver does not write.

const SPECIAL = /["\\]/g

/**
 * Quotes a text as a field of a composite value inside an array, on both levels at once: the field's own quotes become `\"`, a quote in the text
 * `\"\"`, a backslash four backslashes. The text must hold no U+0000.
 */
export function quotedField(text: string): string {
  SPECIAL.lastIndex = 0
  const inner = SPECIAL.test(text) ? text.replace(SPECIAL, special => (special === '"' ? '\\"\\"' : '\\\\\\\\')) : text
  return `\\"${inner}\\"`
}
