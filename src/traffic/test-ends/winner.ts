// Which visitors get the winner of an ended split test: those who came after its end. The id of a visitor tells when they first came.
import { timeOfId } from '../../contract/ids.ts'
import type { TestEnds } from '../campaigns/live-rows.ts'

/** The winner for this visitor; undefined if the test goes on, or for visitors from before its end. `visitor` is their id. */
export function winnerFor(ends: TestEnds | undefined, test: string, visitor: string): string | undefined {
  const end = ends?.[test]
  return end !== undefined && firstSeenMs(visitor) >= end.at_ms ? end.winner : undefined
}

/** Ids from before they had a time, and addresses of crawlers, have none: those visitors are old. */
const firstSeenMs = (visitor: string): number => (visitor[14] === '7' ? timeOfId(visitor) : 0)
