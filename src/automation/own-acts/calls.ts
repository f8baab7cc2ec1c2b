/** Calls of endpoints by Sluice itself, as a person would make them: with their checks and their rows in the history. Owns no table. */
import type { Kysely } from 'kysely'
import { NIL_ID } from '../../contract/ids.ts'
import { Refusal, refusalBody } from '../../contract/refusals.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Act } from '../../ground/history/record.ts'
import type { Furnished, Ground, Member } from '../../ground/room.ts'
import { checkedCall, type NamedCall } from '../../people/history/perform.ts'
import type { Recorder } from '../../people/history/recorder.ts'

/** The recorder of the history, and all endpoints by their names. */
export type Tools = { readonly recorder: Recorder; readonly byName: ReadonlyMap<string, Furnished> }

export type Workspace = { readonly org_id: number; readonly organization_id: string; readonly zone: string }

/** What Sluice acts in: its transaction, and the workspace. */
type OwnCalling = {
  readonly trx: Kysely<Tables>
  readonly ground: Ground
  readonly tools: Tools
  readonly place: Workspace
}

const SLUICE = { user_id: NIL_ID, email: '', name: 'Sluice', session_id: NIL_ID, has_second_factor: true } as const

/** Calls an endpoint, and returns what its deed returns. Refuses what the endpoint refuses. */
export async function callAsSluice(
  { trx, ground, tools, place }: OwnCalling,
  act: Act,
  named: NamedCall,
): Promise<unknown> {
  const { org_id, organization_id } = place
  const actor: Member = { ...SLUICE, kind: 'member', role: 'admin', org_id, organization_id }
  const context = {
    ...ground,
    db: trx,
    actor,
    act,
    ip: '',
    origin: undefined,
    idempotency_key: undefined,
    arrived_at: performance.now(),
    header: () => undefined,
  }
  const performing = { ...tools, misfit: { name: 'invalid_request' } } as const
  return await checkedCall(performing, context, named).run(context)
}

/** The code of a refusal; undefined for other errors. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Refusal ? (refusalBody(error, 'reads').code ?? error.refusal) : undefined
