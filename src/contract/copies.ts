/** Names of copies. */

/** The longest name allowed. */
const LONGEST_NAME = 200

/** The name of a copy. A long name is cut at its end. */
export const nameOfCopy = (name: string): string =>
  `Copy of ${name}`
    .slice(0, LONGEST_NAME)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trimEnd()
