/**
 * Runs the deeds of writing endpoints so that the history records them: in one transaction, the objects are read before and after the deed, and what
 * differs is written. A deed that fails or is refused leaves neither its write nor a row.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { HistoryKind } from '../../contract/history.ts'
import { toUuid } from '../../contract/ids.ts'
import { inOneTransaction } from '../../ground/db/one-transaction.ts'
import type { Tables } from '../../ground/db/tables.ts'
import {
  type HistoryObject,
  objectKey,
  lockHistory,
  type ObjectChange,
  recordChanges,
} from '../../ground/history/record.ts'
import type { CallCircumstances, Furnished, Ground, Key, Member, Person, RecordedWrite } from '../../ground/room.ts'
import { earliestMembership, JOIN_ORGANIZATION } from '../keys/key-organization.ts'
import type { Reading } from './reading.ts'
import type { Subjects } from './subjects.ts'
import { alsoTouched, mainObject, type Write } from './touched.ts'

type Actor = Person | Member | Key | undefined
/** What the gate knows of a call. */
export type DeedContext = Ground & Omit<CallCircumstances, 'recorded'> & { readonly actor: Actor }
export type DecodedCall = { readonly params: unknown; readonly query: unknown; readonly body: unknown }

export type Recorder = {
  /** Runs the deed of an endpoint, and records what it declares. */
  run(one: Furnished, context: DeedContext, call: DecodedCall): Promise<unknown>
  /** Runs another write in a transaction, and records it. */
  recordedIn(context: DeedContext): RecordedWrite
}

type Place = { readonly org_id: number; readonly organization_id: string }
type Objects<T> = (trx: Transaction<Tables>, written?: T) => Promise<readonly HistoryObject[]>
type AnyDeed = (context: object, call: DecodedCall) => unknown

export function openRecorder(subjects: Subjects): Recorder {
  const recordedIn =
    (context: DeedContext): RecordedWrite =>
    async (objects, write, org_id) => {
      const place = await placeOf(context.db, context.actor, org_id)
      return await record(context, place, async (_trx, written) => objects(written), write)
    }

  async function record<T>(
    context: DeedContext,
    place: Place,
    objects: Objects<T>,
    write: (trx: Transaction<Tables>) => Promise<T>,
  ): Promise<T> {
    return await inOneTransaction(context.db, async trx => {
      const known = await lockObjects(trx, place.org_id, objects)
      const reading = readingOf(context, place, trx)
      const before = await subjects.readAll(reading, known)
      const result = await write(trx)
      const missing = (await objects(trx, result)).filter(object => !before.has(objectKey(object)))
      const both = [...known, ...missing]
      const after = await subjects.readAll(reading, both)
      const changes = both.map((object): ObjectChange => {
        const key = objectKey(object)
        return { ...object, before: before.get(key), after: after.get(key) }
      })
      await recordChanges(trx, place.org_id, context.act, changes)
      return result
    })
  }

  const full = (context: DeedContext, db: Kysely<Tables>) => {
    const within = { ...context, db }
    return { ...within, recorded: recordedIn(within) }
  }

  return {
    recordedIn,
    async run({ endpoint, deed }, context, call) {
      const act = deed as unknown as AnyDeed
      const kind = endpoint.history
      if (typeof kind !== 'string') return await act(full(context, context.db), call)
      const write = writeOf(context, call)
      const place = await placeOfWrite(context, kind, write)
      if (place === undefined)
        return await runNew(subjects, kind, context, async trx => await act(full(context, trx), call))
      const objects: Objects<unknown> = async (trx, result) => [
        ...mainObject(kind, { ...write, ...place, result: result as Write['result'] }),
        ...(result === undefined ? await alsoTouched(trx, place.org_id, kind, write) : []),
      ]
      return await record(context, place, objects, async trx => await act(full(context, trx), call))
    },
  }
}

/** Locks the objects of a write, and those that another write has made it touch while this one waited. */
async function lockObjects<T>(trx: Transaction<Tables>, org_id: number, objects: Objects<T>): Promise<HistoryObject[]> {
  const locked = new Map<string, HistoryObject>()
  for (;;) {
    const found = (await objects(trx)).filter(object => !locked.has(objectKey(object)))
    if (found.length === 0) return [...locked.values()]
    await lockHistory(trx, org_id, found)
    for (const object of found) locked.set(objectKey(object), object)
  }
}

/** Runs the deed of a new organization, whose number is known only once it exists. */
async function runNew(
  subjects: Subjects,
  kind: HistoryKind,
  context: DeedContext,
  act: (trx: Transaction<Tables>) => Promise<unknown>,
): Promise<unknown> {
  return await inOneTransaction(context.db, async trx => {
    const result = (await act(trx)) as Write['result']
    const place = await organizationOf(trx, String(result?.['id']))
    if (place === undefined || kind !== 'organization') return result
    const object = { kind, id: place.organization_id }
    const after = await subjects.read(readingOf(context, place, trx), object)
    await recordChanges(trx, place.org_id, context.act, [{ ...object, before: undefined, after }])
    return result
  })
}

const writeOf = ({ actor }: DeedContext, { params, body }: DecodedCall): Write => ({
  params: (params ?? {}) as Write['params'],
  body: (body ?? {}) as Write['body'],
  result: undefined,
  organization_id: actor !== undefined && 'organization_id' in actor ? actor.organization_id : '',
})

/** The place and the person to read objects as. Outside of a transaction, `db` only reads. */
export function readingOf(
  { actor, config, database, log, secrets }: Ground & { readonly actor: Actor },
  { org_id, organization_id }: Place,
  db: Kysely<Tables>,
): Reading {
  const { user_id = '' } = actor ?? {}
  const session_id = actor !== undefined && 'session_id' in actor ? actor.session_id : user_id
  return { config, database, log, secrets, db, org_id, organization_id, user_id, session_id }
}

/** The organization whose history a write is in: that of the caller, of the key that is changed, or the one that is changed itself. */
async function placeOfWrite(context: DeedContext, kind: HistoryKind, write: Write): Promise<Place | undefined> {
  const { actor, db } = context
  const { id } = write.params
  if (kind === 'organization' && id !== undefined) {
    const place = await organizationOf(db, toUuid(id))
    if (place !== undefined) return place
  }
  if (kind === 'organization' && (id !== undefined || actor === undefined || !('org_id' in actor))) return undefined
  if (kind === 'api_key' && actor !== undefined) {
    const place = await placeOfKey(db, actor.user_id, write)
    if (place !== undefined) return place
  }
  return actor !== undefined && 'org_id' in actor ? placeOf(db, actor) : undefined
}

async function placeOf(db: Kysely<Tables>, actor: Actor, org_id?: number): Promise<Place> {
  if (actor !== undefined && 'org_id' in actor && (org_id === undefined || org_id === actor.org_id))
    return { org_id: actor.org_id, organization_id: actor.organization_id }
  const { rows } = await sql<Place>`
    select org_id, id as organization_id from organizations where org_id = ${org_id ?? 0}`.execute(db)
  if (rows[0] === undefined) throw new Error('a write to record names no organization')
  return rows[0]
}

async function organizationOf(db: Kysely<Tables>, id: string | undefined): Promise<Place | undefined> {
  if (id === undefined) return undefined
  const { rows } = await sql<Place>`select org_id, id as organization_id from organizations where id = ${id}`.execute(
    db,
  )
  return rows[0]
}

/** The organization that a key acts in after the write, which may be another than the caller's. */
async function placeOfKey(db: Kysely<Tables>, user_id: string, { params, body }: Write): Promise<Place | undefined> {
  const named = body['organization_id']
  if (typeof named === 'string') return await organizationOf(db, named)
  if (params['id'] === undefined) {
    const org_id = await earliestMembership(db, user_id)
    return org_id === null ? undefined : await placeOf(db, undefined, org_id)
  }
  const { rows } = await sql<Place>`
    select o.org_id, o.id as organization_id from api_keys k left join api_key_grants g on g.key_id = k.id
    ${sql.raw(JOIN_ORGANIZATION)} where k.id = ${toUuid(params['id']) ?? null} and o.org_id is not null`.execute(db)
  return rows[0]
}
