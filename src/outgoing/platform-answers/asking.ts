/** Calls a platform at once and on behalf of a person who waits for the answer: no queue, no retry, the worker's deadlines. */
import { getGlobalDispatcher } from 'undici'
import type { Answer, Outgoing } from '../deliveries/lane.ts'
import { send } from '../deliveries/send.ts'

/** Never throws. Only for addresses the operator has set: nothing guards the way there. */
export async function askAtOnce(call: Outgoing): Promise<Answer> {
  const { status, headers, answer, error } = await send(getGlobalDispatcher(), call)
  return { status, headers, body: answer ?? '', error }
}
