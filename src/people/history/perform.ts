/** Runs endpoints by their names, as the caller, for deeds that change objects through the endpoints that anyone would use. */
import { z } from 'zod'
import type { HistoryKind } from '../../contract/history.ts'
import type { RefusalName } from '../../contract/refusal-catalogue.ts'
import { refuse } from '../../contract/refusals.ts'
import type { CallCircumstances, Furnished, Ground, Member } from '../../ground/room.ts'
import type { ObjectFields } from '../../ground/history/record.ts'
import type { Recorder } from './recorder.ts'
import { isAtLeast } from './rows.ts'

/** A call of an endpoint, by its name. */
export type NamedCall = {
  readonly endpoint: string
  readonly params?: ObjectFields
  readonly query?: ObjectFields
  readonly body?: ObjectFields
}

/** `misfit` is the refusal for a body that the endpoint does not take. */
export type Performing = {
  readonly recorder: Recorder
  readonly byName: ReadonlyMap<string, Furnished>
  readonly misfit: { readonly name: RefusalName; readonly hint?: string }
}
/** Kinds whose writes record themselves in a transaction and ask nobody else. */
const NEVER_WAIT: ReadonlySet<HistoryKind> = new Set(['event', 'left_out'])
type MemberContext = Ground & Omit<CallCircumstances, 'recorded'> & { readonly actor: Member }

/**
 * The call of an endpoint as the caller, checked: the role that the endpoint asks for, and its body. `run` makes it with its history and returns what
 * the deed returns; `call` is what the deed gets; `waits` tells that it asks Telegram, for which no transaction may wait. Refuses `role_forbidden` and `misfit`.
 */
export function checkedCall(
  { recorder, byName, misfit: { name: misfit, ...detail } }: Performing,
  { actor }: Pick<MemberContext, 'actor'>,
  { endpoint: name, params = {}, query = {}, body }: NamedCall,
) {
  const one = byName.get(name)
  if (one === undefined) throw new Error(`${name} is no endpoint`)
  const { access, body: schema, history } = one.endpoint
  const needed = access !== 'anyone' && access.session !== undefined ? access.session : 'owner'
  if (needed !== 'person' && !isAtLeast(actor.role, needed))
    refuse('role_forbidden', { error: `this needs the role ${needed}` })
  const read = schema?.safeParse(body)
  if (read?.success === false) refuse(misfit, { error: z.prettifyError(read.error), ...detail })
  const waits = typeof history === 'object' && 'in' in history && !NEVER_WAIT.has(history.in)
  const call = { params, query, body: read?.data }
  const run = (context: MemberContext) => recorder.run(one, context, call)
  return { waits, run, call }
}
