// Senders that never pause, for races with concurrent changes.
import { eventually } from './eventually.ts'

/** Runs `senders` senders from `begin` to `stop`. Each calls `send` with the next number as soon as its last call returned; `recorded` has the results. */
export function pour(senders: number, send: (at: number) => Promise<string>) {
  const recorded: string[] = []
  let sending: Promise<unknown> = Promise.resolve()
  let isOver = false
  let next = 0
  const sendOnAndOn = async () => {
    while (!isOver) recorded.push(await send(next++))
  }
  return {
    recorded,
    begin() {
      isOver = false
      sending = Promise.all(Array.from({ length: senders }, sendOnAndOn))
    },
    /** Resolves when `count` more have been recorded. */
    more(count: number) {
      const enough = recorded.length + count
      return Promise.race([sending, eventually('conversions come in', () => recorded.length >= enough)])
    },
    async stop() {
      isOver = true
      await sending
    },
  }
}
