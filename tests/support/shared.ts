// Resources that the test files of one process share.

/** Whether further files follow in this process; then shared resources stay open between them. */
let filesFollow = false
const closings: (() => Promise<void>)[] = []

type Closable = { end(): Promise<void> }

/** Makes `open` return the same resource to every file of the process. The last `end` closes it, or `endShared` if files run one after another. */
export function keepForProcess<T extends Closable>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined
  let users = 0
  const close = async () => {
    const closing = opened
    opened = undefined
    await (await closing)?.end()
  }
  return async () => {
    users += 1
    if (opened === undefined) closings.push(close)
    opened ??= open()
    const end = async () => {
      users -= 1
      if (users === 0 && !filesFollow) await close()
    }
    return { ...(await opened), end }
  }
}

/** Call it if files run one after another in this process: then only `endShared` closes shared resources. */
export const shareBetweenFiles = (): void => void (filesFollow = true)

export async function endShared(): Promise<void> {
  for (const close of closings.splice(0)) await close()
}
