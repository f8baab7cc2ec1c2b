// A split test of a funnel or a click flow, before its visitors are counted.
import type { SplitTest } from './api.ts'

export type ObjectTest = {
  readonly of: SplitTest['of']
  readonly id: string
  readonly node: string | null
  /** SQL of the variant of a click `c`. */
  readonly variant: string
  /** `key` is the variant as the SQL has it. */
  readonly variants: readonly {
    readonly id: string
    readonly key: string
    readonly name: string
    readonly weight: number
  }[]
  readonly since_ms: number
  /** When Sluice moved the weights since then, in order. */
  readonly moves_ms: readonly number[]
  /** When Sluice last moved them at all. */
  readonly last_move_ms: number | undefined
  /** Why the object cannot take new weights now. */
  readonly waits_for: 'not_active' | 'draft' | null
}
