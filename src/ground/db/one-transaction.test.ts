// One transaction for a whole deed: inner transactions join it, and a rehearsal keeps nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Kysely, sql } from 'kysely'
import { useDatabase } from '../../../tests/support/database.ts'
import { afterCommit, inOneTransaction, rehearse } from './one-transaction.ts'
import type { Tables } from './tables.ts'

const fresh = await useDatabase()

const insert = (db: Kysely<Tables>, name: string) => sql`insert into kept_names (name) values (${name})`.execute(db)
const names = async (db: Kysely<Tables>): Promise<string[]> => {
  const { rows } = await sql<{ name: string }>`select name from kept_names order by name`.execute(db)
  return rows.map(({ name }) => name)
}

test('a rehearsal returns its result and keeps neither rows nor what waits for the commit', async () => {
  const db = fresh.database.kysely
  await sql`create table kept_names (name text primary key)`.execute(db)
  const told: string[] = []
  const write = async (trx: Kysely<Tables>, name: string) => {
    await trx.transaction().execute(inner => insert(inner, name))
    await afterCommit(trx, async () => void told.push(name))
    return await names(trx)
  }
  assert.deepEqual(await rehearse(db, trx => write(trx, 'a')), ['a'])
  assert.deepEqual([await names(db), told], [[], []])

  const seen = await inOneTransaction(db, async trx => {
    await write(trx, 'b')
    const rehearsed = await rehearse(trx, inner => write(inner, 'c'))
    await write(trx, 'd')
    return rehearsed
  })
  assert.deepEqual(seen, ['b', 'c'])
  assert.deepEqual(
    [await names(db), told],
    [
      ['b', 'd'],
      ['b', 'd'],
    ],
  )

  await assert.rejects(
    rehearse(db, async trx => {
      await write(trx, 'e')
      throw new Error('refused')
    }),
    /refused/,
  )
  assert.deepEqual(
    [await names(db), told],
    [
      ['b', 'd'],
      ['b', 'd'],
    ],
  )
})

test('a part that fails after a failure inside it leaves nothing, and neither does a rehearsal of it', async () => {
  const db = fresh.database.kysely
  const part = async (trx: Kysely<Tables>, name: string) => {
    await insert(trx, `${name} before`)
    const refused = trx.transaction().execute(async inner => {
      await insert(inner, `${name} refused`)
      throw new Error('refused')
    })
    await assert.rejects(refused, /refused/)
    await insert(trx, `${name} after`)
  }
  const failing = async (trx: Kysely<Tables>) =>
    trx.transaction().execute(async inner => {
      await part(inner, 'failed')
      throw new Error('failed')
    })
  await sql`delete from kept_names`.execute(db)
  await inOneTransaction(db, async trx => {
    await assert.rejects(failing(trx), /failed/)
    await rehearse(trx, inner => part(inner, 'rehearsed'))
    await part(trx, 'kept')
  })
  assert.deepEqual(await names(db), ['kept after', 'kept before'])
})
