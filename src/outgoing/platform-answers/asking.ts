/** Calls a platform immediately for a person who waits for the answer: without queue or retry, with the worker's deadlines. */
import { getGlobalDispatcher } from 'undici'
import type { CallAnswer, Outgoing } from '../deliveries/lane.ts'
import { sendCall } from '../deliveries/send.ts'

/** Makes the call without the guard, so only for addresses from the operator's settings. Never throws. */
export async function callAtOnce(call: Outgoing): Promise<CallAnswer> {
  const { status, headers, answer, error } = await sendCall(getGlobalDispatcher(), call)
  return { status, headers, body: answer ?? '', error }
}
