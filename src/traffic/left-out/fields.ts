// The fields whose values can be left out, and which values they have.
import { SUBS, type Sub } from '../../contract/fields.ts'
import { TEXT_BYTES } from '../../contract/texts.ts'
import { isUnreplaced } from '../../contract/unreplaced.ts'
import type { LEFT_OUT_FIELDS } from './api.ts'

export type LeftOutField = (typeof LEFT_OUT_FIELDS)[number]

const CREATIVE = /^creative\b/i

/** The sub that a traffic source labels as its creative. */
export function creativeSub(
  parameters: readonly { readonly field: string; readonly label?: string | null | undefined }[],
): Sub | undefined {
  const field = parameters.find(({ label }) => label != null && CREATIVE.test(label))?.field
  return SUBS.find(sub => sub === field)
}

const HOUR = /^([01]\d|2[0-3])$/

/** Why a value cannot be left out; undefined if it can. */
export function faultOf(field: LeftOutField, value: string): string | undefined {
  if (value === '') return 'is empty'
  if (Buffer.byteLength(value) > TEXT_BYTES) return `is longer than ${TEXT_BYTES} bytes`
  if (isUnreplaced(value)) return 'is a macro that was not replaced'
  if (field === 'hour' && !HOUR.test(value)) return 'must be an hour, 00 to 23'
  return undefined
}

/** Whether a left-out value still holds at a time: behind `until_ms` it is let in again. */
export const isInForce = (until_ms: number | null, ms: number): boolean => until_ms === null || until_ms > ms
