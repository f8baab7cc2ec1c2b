// Left-out values as text: one value a line, or in the form that a traffic source's own blacklist takes.
import { sourceTemplateOf } from '../../contract/source-templates/all.ts'
import type { TEXT_FORMS } from './api.ts'
import { faultOf, type LeftOutField } from './fields.ts'

/** A line with a value. `error`: why the value cannot be left out. */
export type LineOfText = { readonly line: number; readonly value: string; readonly error: string | null }

/** The lines with values, by their numbers from 1. Values are compared exactly, so they are not trimmed. */
export function linesOfText(field: LeftOutField, text: string): LineOfText[] {
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .map((value, at) => ({ line: at + 1, value, error: faultOf(field, value) ?? null }))
    .filter(({ value }) => value.trim() !== '')
}

/** The values as text. `template` is the slug of the campaign's source. */
export function textOf(values: readonly string[], form: (typeof TEXT_FORMS)[number], template: string | null): string {
  const wanted = form === 'source' ? (sourceTemplateOf(template)?.blacklist ?? 'lines') : form
  return wanted === 'commas' ? values.join(',') : values.map(value => `${value}\n`).join('')
}
