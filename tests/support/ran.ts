/** How many tests passed, failed and were skipped. */
export type Counts = { passed: number; failed: number; skipped: number }

/** The results of one file, with the places and errors of failed tests for the end of the output. */
export type FileRan = Counts & { file: string; failures: string[] }
