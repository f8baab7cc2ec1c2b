/**
 * Refuses to group millions of clicks by a dimension in which nearly every click has its own value. That would use up the memory of the scanning
 * process and delay other questions, only to return rows of one click each. The same question for one campaign or one day is answered.
 */
import { type ExploreDimension, LINK_DIMENSIONS } from '../../contract/explore-dimensions.ts'
import { refuse } from '../../contract/refusals.ts'
import type { Ask } from './engine.ts'
import { type LocalFacts, selectFacts, keyName } from './scan.ts'
import { isFiltered, type ParsedQuestion } from './question.ts'

export type WideLimits = {
  /** Up to this many clicks, grouping by any dimension is allowed. */
  readonly wide_clicks: number
  /** With more clicks, a dimension may have at most this many values. */
  readonly wide_words: number
}
export const WIDE_LIMITS: WideLimits = { wide_clicks: 2_000_000, wide_words: 1_000_000 }

const mayBeWide = (dimension: ExploreDimension) => LINK_DIMENSIONS.some(name => name === dimension)

/** Refuses `question_too_wide` for a question that groups by such a dimension; `clicks` is how many pass its filters. */
export async function refuseTooWide(
  ask: Ask,
  facts: LocalFacts,
  question: ParsedQuestion,
  clicks: bigint,
  { wide_clicks, wide_words }: WideLimits,
): Promise<void> {
  if (clicks <= BigInt(wide_clicks)) return
  const first = question.within?.length ?? 0
  // Filters on figures group by all levels, even where only the rows of one are answered.
  const end = question.within === undefined || isFiltered(question) ? question.levels.length : first + 1
  const askedLevels = question.levels.slice(first, end)
  for (const { dimension } of askedLevels) {
    // The rough number for all days costs nothing; the number for the question's days costs a scan.
    if (!mayBeWide(dimension) || facts.valuesOf(dimension) <= wide_words) continue
    const levels = [{ dimension, at: 0 }]
    const [row] = await ask(
      `select approx_count_distinct(${keyName(0)}) as words from (${selectFacts(facts, question, question.window, { levels, columns: [] })})`,
    )
    const words = Number(row?.['words'] ?? 0)
    if (words > wide_words)
      refuse('question_too_wide', {
        error: `${dimension} has about ${inWords(words)} values over ${inWords(clicks)} clicks`,
        hint: `It is grouped by over at most ${inWords(wide_clicks)} clicks: choose fewer days, or filter by one campaign, or by ${dimension} itself.`,
      })
  }
}

const inWords = (count: number | bigint) => count.toLocaleString('en-US')
