// What an upgrade leaves of sessions and invitations that a database of before had: one server's, because a cluster is made with all migrations so far.
import assert from 'node:assert/strict'
import test from 'node:test'
import pg from 'pg'
import { freshDatabase } from '../../../tests/support/database.ts'
import { openTestHouse } from '../../../tests/support/house.ts'
import { seedPerson, seedSession, seedSignedIn } from '../../../tests/support/people.ts'
import { newId, toWireId } from '../../contract/ids.ts'
import { listMigrations, migrate } from '../../ground/db/migrate.ts'

test('over the upgrade people stay signed in, and open invitations stay in the list; their links stop working until they are made anew', async t => {
  const fresh = await freshDatabase()
  const client = new pg.Client(fresh.connection)
  await client.connect()
  await client.query('drop schema public cascade; create schema public')
  // All others, because the house needs the tables of its own version.
  const isBefore = ({ name }: { name: string }) => !/hashed/.test(name)
  await migrate(client, listMigrations().filter(isBefore))
  const house = await openTestHouse(fresh.database, {})
  t.after(async () => {
    await client.end()
    await house.end()
    await fresh.drop()
  })
  const owner = await seedSignedIn(house)
  const invited = await seedSession(house, await seedPerson(house, 'invited@example.com'))
  const id = newId()
  await client.query(
    `insert into invitations (id, org_id, email, role, invited_by, created_at, expires_at)
      values ($1, $2, 'invited@example.com', 'admin', $3, now(), now() + interval '1 day')`,
    [id, owner.org_id, owner.user_id],
  )
  await client.query(
    `insert into verifications values ($1, 'reset-password:abc', $2, now() + interval '1 hour', now(), now())`,
    [newId(), owner.user_id],
  )
  await migrate(client)
  const list = async () =>
    (await house.call('GET', '/api/invitations', owner)).json<{
      data: { id: string; email: string; role: string; state: string; has_link: boolean }[]
    }>().data
  const [kept] = await list()
  assert.deepEqual([kept?.id, kept?.state, kept?.has_link], [toWireId(id), 'pending', false])
  const opened = (link: string) => house.call('GET', `/api/invitation-links/${link}`)
  const accept = (link: string) => house.call('POST', `/api/invitation-links/${link}/accept`, { cookie: invited })
  assert.equal((await opened(toWireId(id))).statusCode, 404)
  assert.equal((await accept(toWireId(id))).statusCode, 409)
  assert.equal((await client.query('select from verifications')).rowCount, 0)
  const body = { email: kept?.email, role: kept?.role }
  const anew = await house.call('POST', '/api/invitations', { ...owner, body })
  const link = String(anew.data()['link']).split('/').at(-1) ?? ''
  assert.deepEqual(
    (await list()).map(one => one.has_link),
    [true],
  )
  assert.equal((await accept(link)).data()['role'], 'admin')
})
