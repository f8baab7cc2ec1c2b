/**
 * Probes whether Telegram is reachable. After a lost answer, nothing is sent until Telegram has answered `getMe` and then one single message. So an
 * outage costs one group of messages instead of a whole list, even if only sending fails. Only the sending process knows it, and starts with a probe.
 */
import { callTelegram, type Failure } from '../bots/telegram.ts'
import type { SendTerms } from './terms.ts'

export type Probe = {
  /** How long until the next probe is due; undefined: none is needed. */
  wait(now: number): number | undefined
  /** Sends a probe; returns the failure. */
  ask(root: string, token: string): Promise<Failure | undefined>
  /** The answer to a message was lost. The pause before the next probe doubles until a message is answered. */
  doubt(now: number): void
  /** A message was answered, with success or failure. */
  answered(): void
  /** Whether the answer to the last message was lost. */
  isInDoubt(): boolean
  /** Nothing was sent because of an error of our own: probe again before sending. */
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
