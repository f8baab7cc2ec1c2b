/** All templates of traffic sources. Macros are as the sources, or other trackers, document them. */
import { ADULT } from './adult.ts'
import type { SourceTemplate } from './source-template.ts'
import { NATIVE } from './native.ts'
import { PLATFORMS } from './platforms.ts'
import { POP } from './pop.ts'
import { PUSH } from './push.ts'

/** When the templates were last compared with their evidence. */
export const CHECKED_ON = '2026-11-22'

/** By the slug that a source stores. */
export const SOURCE_TEMPLATES: Readonly<Record<string, SourceTemplate>> = {
  ...PLATFORMS,
  ...PUSH,
  ...POP,
  ...NATIVE,
  ...ADULT,
}

/** The template of a slug. Undefined for an unknown slug, such as one stored by a later version. */
export function sourceTemplateOf(slug: string | null | undefined): SourceTemplate | undefined {
  return slug != null && Object.hasOwn(SOURCE_TEMPLATES, slug) ? SOURCE_TEMPLATES[slug] : undefined
}
