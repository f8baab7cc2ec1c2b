// Waits with a deadline. The work goes on after the deadline, so its outcome is then unknown.

/** @throws an error whose message begins with "timeout" when `ms` pass before the promise settles. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`timeout: no answer within ${ms} ms`)), ms)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
    // After the deadline nobody handles its failure.
    promise.catch(() => {})
  }
}
