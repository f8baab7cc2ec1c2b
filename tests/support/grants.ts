// Keys and their grants through the dashboard's routes.
import { newId, toWireId } from '../../src/contract/ids.ts'
import type { SeededOrganization, TestHouse } from './house.ts'
import type { SignedIn } from './people.ts'

export type ShownGrant = {
  state: string
  organization: { id: string; name: string } | null
  read: string[]
  write: string[]
  delete: string[]
  campaigns: { id: string; name: string; deleted: boolean }[] | null
}

let campaigns = 0

/** The calls of `owner`; `as` is someone else's cookie. Ids are those of the API. */
export function keysOf(house: TestHouse, owner: SignedIn) {
  const here = { organization_id: toWireId(owner.organization_id) }
  return {
    here,
    async createKey(as = owner.cookie): Promise<{ id: string; secret: string }> {
      const reply = await house.call('POST', '/api/api-keys', { cookie: as, body: { name: 'Integration' } })
      return { id: String(reply.data()['id']), secret: String(reply.data()['secret']) }
    },
    /** Saves a grant in the owner's organization unless the draft names another. */
    save: (id: string, draft: object, as = owner.cookie) =>
      house.call('PUT', `/api/api-keys/${id}/grant`, { cookie: as, body: { ...here, ...draft } }),
    async read(id: string): Promise<ShownGrant> {
      return (await house.call('GET', `/api/api-keys/${id}/grant`, { cookie: owner.cookie })).json<ShownGrant>()
    },
    emptyOut: (id: string, as = owner.cookie) => house.call('DELETE', `/api/api-keys/${id}/grant`, { cookie: as }),
    /** The answer of intake to the key: `let in` if only the body was missing, else the refusal's code. */
    async tried(key: string): Promise<unknown> {
      const reply = await house.call('POST', '/api/events', { key, body: {} })
      return reply.statusCode === 400 ? 'let in' : reply.data()['code']
    },
    /** Inserts a campaign; returns its id in the API's form. */
    async seedCampaign({ org_id }: Pick<SeededOrganization, 'org_id'> = owner): Promise<string> {
      const id = newId()
      const now = new Date().toISOString()
      campaigns += 1
      await house.database.kysely
        .insertInto('campaigns')
        .values({
          org_id,
          id,
          name: `Campaign ${campaigns}`,
          key: `grants${campaigns}`,
          destination: JSON.stringify({ type: 'redirect', url: 'https://example.com' }),
          source: '{}',
          strict_filter: false,
          created_at: now,
          updated_at: now,
        })
        .execute()
      return toWireId(id)
    },
  }
}
