/**
 * Marks a request that an MCP tool makes inside this process. The mark is kept beside the request, not in it, so a client can neither set
 * nor remove it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { RefusalDetail } from '../contract/refusals.ts'
import type { HostName } from '../ground/history/record.ts'
import type { KeyRecord } from '../people/keys/verify.ts'

/** Why the arguments of a tool cannot become a request. `covers` are the fields of the route that it already explains. */
export type ArgumentObjection = RefusalDetail & { readonly covers: readonly string[] }

/** A call that needs a confirmation: its tool and arguments as one text, and the confirmation that was sent. */
export type ConfirmedCall = { readonly text: string; readonly given: string | undefined }

export type ToolCall = {
  readonly tool: string
  /** The key of the call, already read for it, so that it is not read a second time. */
  readonly record: KeyRecord
  /** The AI host, as it named itself. */
  readonly host: HostName | null
  /** Everything is checked and worked out as for the call itself, and nothing is kept. */
  readonly is_dry_run: boolean
  /** For a destructive call of a key that asks first. */
  readonly confirmation?: ConfirmedCall
  /** Why its arguments cannot become a request. It is refused where an invalid body is, so rights and quota are checked first as always. */
  readonly objection?: ArgumentObjection
}

export const toolCall = new AsyncLocalStorage<ToolCall>()
