// Prepared faults of the fake Bot API.

/**
 * `drop`: the connection is cut and the call is not run. `accept_then_drop`: the call is run and the connection is cut. `hang`: no answer until the faults are
 * cleared, and the call is not run. A number: that status with an HTML page, as from a proxy. `retry_after`: 429.
 */
export type Fault = 'drop' | 'accept_then_drop' | 'hang' | number | { readonly retry_after: number }

type PreparedFault = {
  readonly method: string
  readonly fault: Fault
  readonly token: string | undefined
  left: number
}

export type Faults = {
  /** The next `times` calls of the method (`*`: any) get this fault; with `token` only that bot's calls. */
  next(method: string, fault: Fault, times?: number, token?: string): void
  /** All calls of the method get this fault until `clear`. */
  always(method: string, fault: Fault, token?: string): void
  /** Removes all faults and cuts hanging calls. */
  clear(): void
  /** The fault of a call; counts as one of its `times`. */
  take(method: string, token: string): Fault | undefined
  /** Resolves when the faults are cleared. */
  cleared(): Promise<void>
}

export function openFaults(): Faults {
  let prepared: PreparedFault[] = []
  let clearing = Promise.withResolvers<void>()
  const add = (method: string, fault: Fault, left: number, token: string | undefined) =>
    void prepared.push({ method, fault, left, token })
  return {
    next: (method, fault, times = 1, token) => add(method, fault, times, token),
    always: (method, fault, token) => add(method, fault, Number.POSITIVE_INFINITY, token),
    clear() {
      prepared = []
      clearing.resolve()
      clearing = Promise.withResolvers()
    },
    take(method, token) {
      const found = prepared.find(
        one => one.left > 0 && (one.method === '*' || one.method === method) && (one.token ?? token) === token,
      )
      if (found !== undefined) found.left -= 1
      return found?.fault
    },
    cleared: () => clearing.promise,
  }
}
