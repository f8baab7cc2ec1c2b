/**
 * Confirmations of destructive tool calls, for keys that ask first. A dry run hands one out; it is good for five minutes by the process's clock, for
 * exactly these arguments, for this key, and once. It is signed, so every process accepts it, and nothing is stored before it is used.
 */
import { timingSafeEqual } from 'node:crypto'
import { MINUTE_MS } from '../contract/days.ts'
import type { Endpoint } from '../contract/endpoint.ts'
import { refuse } from '../contract/refusals.ts'
import { useUp } from '../ground/create-once.ts'
import { inOneTransaction } from '../ground/db/one-transaction.ts'
import type { Ground, Key } from '../ground/room.ts'
import type { DeedContext } from '../people/history/recorder.ts'
import type { Actor } from './permit.ts'
import type { ConfirmedCall, ToolCall } from './tool-call.ts'

const GOOD_MS = 5 * MINUTE_MS

type Signing = Pick<Ground, 'secrets'> & { readonly key_id: string; readonly text: string }

/** Unix ms in base 36, a point, and a MAC of it, the key and the call. */
export function confirmationFor({ secrets, key_id, text }: Signing, until_ms = Date.now() + GOOD_MS): string {
  const until = until_ms.toString(36)
  return `${until}.${secrets.mac('confirmation', JSON.stringify([key_id, until, text])).toString('base64url')}`
}

/** Refuses `confirmation_needed`, with the reason, unless the call has a confirmation of its own that is still good. */
function requireConfirmation({ secrets }: Pick<Ground, 'secrets'>, { key_id }: Key, call: ConfirmedCall): string {
  const { text, given } = call
  if (given === undefined) refuse('confirmation_needed')
  const until_ms = Number.parseInt(given.split('.')[0] ?? '', 36)
  const own = Buffer.from(Number.isSafeInteger(until_ms) ? confirmationFor({ secrets, key_id, text }, until_ms) : '')
  const sent = Buffer.from(given)
  const isOwn = own.length === sent.length && timingSafeEqual(own, sent)
  if (!isOwn)
    refuse('confirmation_needed', { error: 'the confirmation is not for exactly these arguments of this key' })
  if (until_ms <= Date.now())
    refuse('confirmation_needed', { error: 'the confirmation has expired after five minutes' })
  return given
}

/** Uses the confirmation up, in the caller's transaction. Refuses `confirmation_needed` if it was used before. */
async function useConfirmation(db: Ground['db'], key: Key, confirmation: string, act_id: string): Promise<void> {
  if (!(await useUp(db, key, confirmation, act_id)))
    refuse('confirmation_needed', { error: 'the confirmation was used before' })
}

/** The confirmation that a dry run hands out; nothing if its call needs none. */
export function handedOut(ground: Ground, actor: Actor, tool: ToolCall): { confirmation?: string } {
  if (tool.confirmation === undefined || !isKey(actor)) return {}
  return { confirmation: confirmationFor({ ...ground, key_id: actor.key_id, text: tool.confirmation.text }) }
}

/**
 * Runs a deed once its confirmation is used up, if it needs one. Both are in one transaction if the deed runs in one, so that a deed that fails uses
 * nothing up; for a conversion the confirmation is used up first.
 */
export async function runConfirmed<T>(
  { history }: Endpoint,
  tool: ToolCall | undefined,
  context: DeedContext,
  run: (context: DeedContext) => Promise<T> | T,
): Promise<T> {
  const { actor, act } = context
  if (tool?.confirmation === undefined || !isKey(actor)) return await run(context)
  const confirmation = requireConfirmation(context, actor, tool.confirmation)
  if (typeof history !== 'string') {
    await useConfirmation(context.db, actor, confirmation, act.act_id)
    return await run(context)
  }
  return await inOneTransaction(context.db, async db => {
    await useConfirmation(db, actor, confirmation, act.act_id)
    return await run({ ...context, db })
  })
}

const isKey = (actor: Actor): actor is Key => actor !== undefined && 'kind' in actor && actor.kind === 'key'
