/** Runs endpoints by their names, as the caller, for deeds that change objects through the endpoints that anyone would use. */
import { z } from 'zod'
import type { RefusalName } from '../../contract/refusal-catalogue.ts'
import { refuse } from '../../contract/refusals.ts'
import type { CallCircumstances, Furnished, Ground, Member } from '../../ground/room.ts'
import type { ObjectFields } from '../../ground/history/record.ts'
import type { Recorder } from './recorder.ts'
import { isAtLeast } from './rows.ts'

/** A call of an endpoint, by its name. */
export type NamedCall = { readonly endpoint: string; readonly params?: ObjectFields; readonly body?: ObjectFields }

/** `misfit` is the refusal for a body that the endpoint does not take. */
export type Performing = {
  readonly recorder: Recorder
  readonly byName: ReadonlyMap<string, Furnished>
  readonly misfit: { readonly name: RefusalName; readonly hint?: string }
}
type MemberContext = Ground & Omit<CallCircumstances, 'recorded'> & { readonly actor: Member }

/**
 * Runs an endpoint as the caller, with the role that it asks for and with its history, and returns what its deed returns. Refuses what the endpoint
 * refuses, `role_forbidden`, and `misfit`.
 */
export async function perform(
  { recorder, byName, misfit: { name: misfit, ...detail } }: Performing,
  context: MemberContext,
  { endpoint: name, params = {}, body }: NamedCall,
): Promise<unknown> {
  const one = byName.get(name)
  if (one === undefined) throw new Error(`${name} is no endpoint`)
  const { access, body: schema } = one.endpoint
  const needed = access !== 'anyone' && access.session !== undefined ? access.session : 'owner'
  if (needed !== 'person' && !isAtLeast(context.actor.role, needed))
    refuse('role_forbidden', { error: `this needs the role ${needed}` })
  const read = schema?.safeParse(body)
  if (read?.success === false) refuse(misfit, { error: z.prettifyError(read.error), ...detail })
  return await recorder.run(one, context, { params, query: {}, body: read?.data })
}
