// Senders without a pause, for races with what is changed meanwhile.
import { eventually } from './eventually.ts'

/** So many senders, from `begin` to `stop`, each calling `send` with the next number as soon as it was answered. `recorded` are the answers. */
export function pour(senders: number, send: (at: number) => Promise<string>) {
  const recorded: string[] = []
  let sending: Promise<unknown> = Promise.resolve()
  let isOver = false
  let next = 0
  const go = async () => {
    while (!isOver) recorded.push(await send(next++))
  }
  return {
    recorded,
    begin() {
      isOver = false
      sending = Promise.all(Array.from({ length: senders }, go))
    },
    /** Resolves when so many more have been recorded. */
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
