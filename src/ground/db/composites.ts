// The database's own notation for composite values inside an array, which the driver does not write.

const SPECIAL = /["\\]/g

/**
 * A text as a field of a composite value that is an element of an array, quoted on both levels at once: a quote inside the element is
 * `\"`, a quote inside the field inside it `\"\"`, a backslash four of them. The text holds no U+0000.
 */
export function quotedField(text: string): string {
  SPECIAL.lastIndex = 0
  const inner = SPECIAL.test(text) ? text.replace(SPECIAL, special => (special === '"' ? '\\"\\"' : '\\\\\\\\')) : text
  return `\\"${inner}\\"`
}
