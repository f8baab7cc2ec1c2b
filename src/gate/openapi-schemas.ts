/** JSON schemas for the OpenAPI document, in their wire form and with named parts moved to components. */
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

export type OpenApiObject = { [key: string]: unknown }

/** The wire form of a schema. Its named parts are added to `schemas`. */
export function schemaOf(schema: z.ZodType, schemas: OpenApiObject): OpenApiObject {
  const {
    $schema: _,
    $defs = {},
    ...rest
  } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12', unrepresentable: 'any' }) as OpenApiObject & {
    $defs?: OpenApiObject
  }
  for (const [name, part] of Object.entries($defs)) {
    const component = withReferences(part)
    if (name in schemas && !isDeepStrictEqual(schemas[name], component))
      throw new Error(`two schemas are named ${name}`)
    schemas[name] = component
  }
  return withReferences(rest) as OpenApiObject
}

/** The schema with references to components, and without long patterns that only repeat a format. */
function withReferences(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withReferences)
  if (typeof part !== 'object' || part === null) return part
  const entries = Object.entries(part).filter(([key]) => !(key === 'pattern' && 'format' in part))
  return Object.fromEntries(
    entries.map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string'
        ? value.replace('#/$defs/', '#/components/schemas/')
        : withReferences(value),
    ]),
  )
}
