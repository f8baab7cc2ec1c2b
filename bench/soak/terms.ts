// The sizes of a soak.

export type SoakTerms = {
  minutes: number
  /** Redirects and conversions per second. */
  clicks: number
  conversions: number
  /** Recipients of each broadcast. */
  recipients: number
  /** Seconds between two questions of a kind, and between two readings of the ad account. */
  every: { report: number; feed: number; explore: number; spend: number }
}

export const SOAK: SoakTerms = {
  minutes: 480,
  clicks: 300,
  conversions: 15,
  // A minute at the usual pace.
  recipients: 1500,
  every: { report: 3, feed: 3, explore: 5, spend: 60 },
}

/** For tests: seconds with little traffic. */
export const SHORT_SOAK: SoakTerms = {
  minutes: 4 / 60,
  clicks: 30,
  conversions: 6,
  recipients: 20,
  every: { report: 1, feed: 1, explore: 1, spend: 2 },
}

const POINTS = 240
const LEAST_S = 1

/** Seconds between two points: 240 points in all, but at most one a second. */
export const windowSeconds = ({ minutes }: Pick<SoakTerms, 'minutes'>): number =>
  Math.max(LEAST_S, (minutes * 60) / POINTS)
