/**
 * Whether Telegram is there. After an answer that was lost nothing is sent before it has answered a call that changes nothing, and then one message alone:
 * so an outage costs one group of messages and not a whole list, also where nothing but messages is out. Known to the process that sends alone, which
 * begins with a question as well.
 */
import { callTelegram, type Failure } from '../bots/telegram.ts'
import type { SendTerms } from './terms.ts'

export type Probe = {
  /** How long until it is to be asked; undefined: it is there. */
  wait(now: number): number | undefined
  /** Asks it; answers what it says but yes and nothing at all. */
  ask(root: string, token: string): Promise<Failure | undefined>
  /** The answer to a message was lost. Each time without one that was answered the next question waits twice as long. */
  doubt(now: number): void
  /** A message was answered, whatever with. */
  answered(): void
  /** Whether the answer to the last message was lost. */
  isInDoubt(): boolean
  /** Nothing was sent for a reason of our own: to be asked once more before something is. */
  hold(now: number): void
}

export function openProbe({ probe_ms, most_probe_ms }: SendTerms): Probe {
  let at: number | undefined = Number.NEGATIVE_INFINITY
  let pause = probe_ms
  let isInDoubt = false
  const later = (now: number) => {
    at = now + pause
    pause = Math.min(pause * 2, most_probe_ms)
  }
  return {
    wait: now => (at === undefined ? undefined : Math.max(0, at - now)),
    async ask(root, token) {
      const answer = await callTelegram(root, token, 'getMe')
      if (answer.ok || answer.kind === 'refused') at = undefined
      else later(performance.now())
      return answer.ok ? undefined : answer
    },
    doubt(now) {
      isInDoubt = true
      later(now)
    },
    answered() {
      isInDoubt = false
      pause = probe_ms
    },
    isInDoubt: () => isInDoubt,
    hold(now) {
      at = now + probe_ms
    },
  }
}
