/** Schemas as the OpenAPI document shows them: the wire's side, with named parts in one place. */
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

export type Json = { [key: string]: unknown }

/** The wire's side of a schema, with its named parts moved to components. */
export function schemaOf(schema: z.ZodType, schemas: Json): Json {
  const {
    $schema: _,
    $defs = {},
    ...rest
  } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12', unrepresentable: 'any' }) as Json & {
    $defs?: Json
  }
  for (const [name, part] of Object.entries($defs)) {
    const shown = pointed(part)
    if (name in schemas && !isDeepStrictEqual(schemas[name], shown)) throw new Error(`two schemas are named ${name}`)
    schemas[name] = shown
  }
  return pointed(rest) as Json
}

/** References rewritten to where the parts now lie; the long patterns that only repeat a format left out. */
function pointed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(pointed)
  if (typeof part !== 'object' || part === null) return part
  const entries = Object.entries(part).filter(([key]) => !(key === 'pattern' && 'format' in part))
  return Object.fromEntries(
    entries.map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', '#/components/schemas/') : pointed(value),
    ]),
  )
}
