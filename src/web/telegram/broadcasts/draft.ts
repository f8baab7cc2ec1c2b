/** The form of a broadcast, and the changes it sends. */
import type { BroadcastRow } from './state.tsx'

export type Audience = BroadcastRow['audience']

const FIELDS = ['name', 'message', 'audience', 'starts_at', 'window', 'per_second', 'paid', 'on_unknown'] as const
export type Draft = Pick<BroadcastRow, (typeof FIELDS)[number]>

export const draftOf = (broadcast: BroadcastRow): Draft =>
  Object.fromEntries(FIELDS.map(field => [field, broadcast[field]])) as Draft

/** The changed fields only. */
export function changesOf(before: Draft, after: Draft): Partial<Draft> {
  const changed = FIELDS.filter(field => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
  return Object.fromEntries(changed.map(field => [field, after[field]])) as Partial<Draft>
}

/** The audience with one condition changed, or removed if `value` is empty. */
export function withCondition<Name extends keyof Audience>(
  audience: Audience,
  name: Name,
  value: Audience[Name] | undefined,
): Audience {
  const { [name]: _, ...rest } = audience
  const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0)
  return (isEmpty ? rest : { ...rest, [name]: value }) as Audience
}
