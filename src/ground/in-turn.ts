type InTurn = {
  (): Promise<void>
  /** Resolves when no run is in progress or waiting. */
  idle(): Promise<void>
}

/** Makes a task run one at a time. A call resolves when a run that began after the call has ended; calls that wait share that run. */
export function inTurn(task: () => Promise<void>): InTurn {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  const start = (): Promise<void> => {
    next = undefined
    running = task().finally(() => {
      running = undefined
    })
    return running
  }
  const run = (): Promise<void> => {
    if (running === undefined) return start()
    next ??= running.catch(() => {}).then(start)
    return next
  }
  return Object.assign(run, {
    async idle() {
      while (running !== undefined || next !== undefined) await (next ?? running)?.catch(() => {})
    },
  })
}
