// What goes wrong on demand at the fake Bot API.

/**
 * `drop`: the connection is cut before anything happens. `accept_then_drop`: it happens, and nobody is told. `hang`: no answer until the faults
 * are cleared, and nothing happens. A number: that status, with an HTML page as a proxy's. `retry_after`: 429.
 */
export type Fault = 'drop' | 'accept_then_drop' | 'hang' | number | { readonly retry_after: number }

type Prepared = { readonly method: string; readonly fault: Fault; readonly token: string | undefined; left: number }

export type Faults = {
  /** The next `times` calls of the method (`*`: of any) end so; of this token alone where it is given. */
  next(method: string, fault: Fault, times?: number, token?: string): void
  /** All calls of the method end so, until `clear`. */
  always(method: string, fault: Fault, token?: string): void
  /** No more faults; calls that hang are cut. */
  clear(): void
  /** The fault of a call, which is then used up. */
  take(method: string, token: string): Fault | undefined
  /** Resolves when the faults are cleared. */
  cleared(): Promise<void>
}

export function openFaults(): Faults {
  let prepared: Prepared[] = []
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
