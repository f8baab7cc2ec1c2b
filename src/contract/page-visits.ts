/** Visits that pages report: how a report arrives, and why a click does not count. */

export const VIAS = ['script', 'image', 'onward', 'server'] as const
export type Via = (typeof VIAS)[number]

/** `ahead`: a prefetch. `library`: an HTTP library, while its campaign excluded them. `pace`: too many visits a minute from one address. */
export const UNTRACKED_REASONS = ['crawler', 'ahead', 'library', 'paused', 'test', 'pace'] as const
export type UntrackedReason = (typeof UNTRACKED_REASONS)[number]
