/** How many tests did what. */
export type Counts = { passed: number; failed: number; skipped: number }

/** The tests of one file; the failed ones with their places and errors: what one looks for at the end of a long output. */
export type FileRan = Counts & { file: string; failures: string[] }
