// Waiting with an end to it. What was waited for goes on all the same, so its outcome is then unknown.

/** @throws an error whose message begins with "timeout" when `ms` pass before the promise settles. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`timeout: no answer within ${ms} ms`)), ms)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
    // Its own failure after the deadline is nobody's business any more.
    promise.catch(() => {})
  }
}
