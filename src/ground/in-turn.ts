/** One run after another of what must not meet itself. */
type InTurn = { (): Promise<void>; idle(): Promise<void> }

/** Runs a task one after another; a call answers when a run that began after it has ended. */
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
