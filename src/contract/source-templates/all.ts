/** What traffic sources call the values they fill in. Macros as the sources, or whoever stands beside them, document them. */
import { ADULT } from './adult.ts'
import type { Facts } from './facts.ts'
import { NATIVE } from './native.ts'
import { PLATFORMS } from './platforms.ts'
import { POP } from './pop.ts'
import { PUSH } from './push.ts'

/** When the facts were last held against their evidence. */
export const CHECKED_ON = '2026-11-22'

/** By the slug that a source keeps. */
export const SOURCE_TEMPLATES: Readonly<Record<string, Facts>> = { ...PLATFORMS, ...PUSH, ...POP, ...NATIVE, ...ADULT }

/** The facts of that slug: one kept by a later version may be unknown here. */
export function factsOf(slug: string | null | undefined): Facts | undefined {
  return slug != null && Object.hasOwn(SOURCE_TEMPLATES, slug) ? SOURCE_TEMPLATES[slug] : undefined
}
