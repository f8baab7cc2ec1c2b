import type { AnswerRow } from './question.ts'

/** The row whose menu is open: its keys from the first level, its name, its element, and the rows of its branch. */
export type Chosen = {
  readonly path: readonly (string | null)[]
  readonly name: string
  readonly anchor: HTMLElement
  readonly siblings: readonly AnswerRow[]
}
