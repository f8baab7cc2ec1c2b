/** A statement as text and parameters, for the pools that are asked by SQL text. */

/** What a parameter may be. Objects are left out on purpose: pass them as JSON text. */
export type Value = string | number | bigint | boolean | null | Uint8Array | readonly Value[]

/** A statement with its parameters. */
export type Statement = { text: string; values?: readonly Value[] }
