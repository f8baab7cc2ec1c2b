/** Why clicks do not count, in words. */
import type { UntrackedReason } from '../../../contract/page-visits.ts'

export const REASON_WORDS: Record<UntrackedReason, string> = {
  crawler: 'Crawler or link preview',
  ahead: 'Prefetch',
  library: 'HTTP library',
  paused: 'Campaign paused or full',
  test: 'Test',
  pace: 'Over 60 a minute from one address',
}
