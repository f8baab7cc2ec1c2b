/** A statement as text and parameters, for pools that take SQL text. */

/** The type of a parameter. Objects are not allowed: pass them as JSON text. */
export type Value = string | number | bigint | boolean | null | Uint8Array | readonly Value[]

/** A statement with its parameters. */
export type Statement = { text: string; values?: readonly Value[] }
