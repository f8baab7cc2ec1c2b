/**
 * The mark of a request that a tool has made inside this process. It travels beside the request, never in it, so nothing sent from
 * outside can put it on or take it off.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { RefusalDetail } from '../contract/refusals.ts'
import type { KeyRecord } from '../people/keys/verify.ts'

/** Why the arguments of a tool make no request. `covers` are the fields of the route of which it has said all there is to say. */
export type Objection = RefusalDetail & { readonly covers: readonly string[] }

export type ToolCall = {
  readonly tool: string
  /** The key it came with, as it was read for this very call: reading it a second time would say the same later. */
  readonly record: KeyRecord
  /** Why its arguments make no request. Refused where a body that does not fit is, and with it, so rights and quota come first as ever. */
  readonly objection?: Objection
}

export const toolCall = new AsyncLocalStorage<ToolCall>()
