// The demo's organization: its owner, who signs in like anyone, what traffic runs on, and a key for the curl lines.
import type { Kysely, Transaction } from 'kysely'
import { openLibrary } from '../src/accounts/sign-in.ts'
import { createAccount } from '../src/accounts/sign-up.ts'
import { newId } from '../src/contract/ids.ts'
import { RIGHTS, type Right } from '../src/contract/rights.ts'
import type { Tables } from '../src/db/tables.ts'
import { firstCharacters, hashSecret, newSecret } from '../src/keys/secret.ts'
import { foundOrganization } from '../src/organizations/organizations.ts'
import type { Ground } from '../src/room.ts'
import type { PlacedRule } from './books.ts'
import { CAMPAIGNS } from './campaigns.ts'
import { letters } from './chance.ts'
import { placeFunnel } from './landings.ts'
import type { Placed } from './traffic.ts'
import { type DemoOffer, OFFERS, RULES } from './world.ts'

export const EMAIL = 'demo@example.com'
export const NAME = 'Demo Media'
const KEY_NAME = 'Demo'

/** Makes the demo's person where they are missing, and gives them a new password, which is hashed as at any sign-up. */
export async function admitPerson(ground: Ground): Promise<{ user_id: string; password: string }> {
  const { db, config } = ground
  const { password: library } = await openLibrary(ground).auth.$context
  const password = letters(Math.random, 16, 'abcdefghjkmnpqrstuvwxyz23456789').replace(/(.{4})(?=.)/g, '$1-')
  const known = await db.selectFrom('users').select('id').where('email', '=', EMAIL).executeTakeFirst()
  if (known === undefined) {
    // Whoever runs the demo holds the database, so nobody has to invite them.
    await createAccount(db, { ...config, signUp: 'open' }, { name: 'Demo', email: EMAIL, password }, library.hash)
  } else {
    await db
      .updateTable('accounts')
      .set({ password: await library.hash(password), updated_at: new Date().toISOString() })
      .where('user_id', '=', known.id)
      .where('provider_id', '=', 'credential')
      .execute()
  }
  const { id } = await db.selectFrom('users').select('id').where('email', '=', EMAIL).executeTakeFirstOrThrow()
  return { user_id: id, password }
}

/** The organization that an earlier run has filled. */
export async function findWorkspace(
  db: Kysely<Tables>,
  user_id: string,
): Promise<{ org_id: number; id: string } | undefined> {
  return db
    .selectFrom('organizations as o')
    .innerJoin('members as m', 'm.org_id', 'o.org_id')
    .where('m.user_id', '=', user_id)
    .where('m.role', '=', 'owner')
    .where('o.name', '=', NAME)
    .where('o.deleted_at', 'is', null)
    .orderBy('m.joined_at')
    .select(['o.org_id', 'o.id'])
    .executeTakeFirst()
}

/** A new key of the person for the organization: it reads, records and creates, and deletes nothing. Their earlier one is revoked. */
export async function makeKey(
  trx: Transaction<Tables>,
  { org_id, user_id }: { org_id: number; user_id: string },
): Promise<{ secret: string; read: Right[]; write: Right[] }> {
  const now = new Date().toISOString()
  const secret = newSecret()
  const id = newId()
  await trx
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('user_id', '=', user_id)
    .where('name', '=', KEY_NAME)
    .where('revoked_at', 'is', null)
    .execute()
  const stored = { hash: hashSecret(secret), first_characters: firstCharacters(secret), created_at: now, enabled: true }
  await trx
    .insertInto('api_keys')
    .values({ id, user_id, name: KEY_NAME, ...stored })
    .execute()
  const tier = (name: string) => (Object.keys(RIGHTS) as Right[]).filter(right => RIGHTS[right].tier === name)
  const rights = { read: tier('read'), write: tier('write') }
  await trx
    .insertInto('api_key_grants')
    .values({ key_id: id, org_id, ...rights, delete: [], saved_at: now, saved_by: user_id })
    .execute()
  return { secret, ...rights }
}

type Workspace = { org_id: number; placed: Placed[]; offers: Map<string, DemoOffer>; rules: PlacedRule[] }

/** Founds the organization, `founded` (Unix ms) being its first day, with offers, campaigns and rules. Its balance is empty yet. */
export async function foundWorkspace(
  trx: Transaction<Tables>,
  { config }: Pick<Ground, 'config'>,
  { user_id, founded }: { user_id: string; founded: number },
): Promise<Workspace> {
  // The books of the demo begin with the credit, on its first day.
  const { org_id } = await foundOrganization(trx, { ...config, welcomeCredit: '0' }, { name: NAME, user_id })
  const at = new Date(founded).toISOString()
  await trx.updateTable('organizations').set({ created_at: at }).where('org_id', '=', org_id).execute()
  await trx.updateTable('members').set({ joined_at: at }).where('org_id', '=', org_id).execute()
  // Changed now, so that a running service looks at what is new.
  const times = { created_at: at, updated_at: new Date().toISOString() }
  const offers = Object.entries(OFFERS).map(([name, offer]) => ({ name, id: newId(founded), offer }))
  await trx
    .insertInto('offers')
    .values(
      offers.map(({ id, offer: { name, path, payout, payout_types } }) => ({
        org_id,
        id,
        name,
        url: `https://offers.example/${path}?click={click_id}`,
        payout,
        payout_types: [...payout_types],
        status: 'active',
        ...times,
      })),
    )
    .execute()
  const placed = await placeCampaigns(trx, org_id, new Map(offers.map(({ name, id }) => [name, id])), times)
  const rules = RULES.map(({ campaign, ...rule }) => ({
    ...rule,
    id: newId(founded),
    campaign_id: placed.find(({ campaign: { key } }) => key === campaign)?.campaign_id ?? null,
  }))
  await trx
    .insertInto('postback_rules')
    .values(rules.map(rule => ({ org_id, method: 'GET', active: true, ...rule, created_at: at, updated_at: at })))
    .execute()
  return { org_id, placed, offers: new Map(offers.map(({ id, offer }) => [id, offer])), rules }
}

async function placeCampaigns(
  trx: Transaction<Tables>,
  org_id: number,
  offers: ReadonlyMap<string, string>,
  times: { created_at: string; updated_at: string },
): Promise<Placed[]> {
  const placed = []
  for (const campaign of CAMPAIGNS) {
    const { name, key, landings } = campaign
    const offer_id = offers.get(campaign.offer) ?? ''
    const funnel =
      landings === undefined ? undefined : await placeFunnel(trx, org_id, { name, landings, offer_id }, times)
    placed.push({ campaign, campaign_id: newId(Date.parse(times.created_at)), offer_id, funnel, key })
  }
  // Keys are unique over all organizations, and the one in the catalogue may be taken.
  const rows = await trx
    .selectFrom('campaign_keys')
    .select('key')
    .where(
      'key',
      'in',
      placed.map(({ key }) => key),
    )
    .execute()
  const taken = new Set(rows.map(({ key }) => key))
  for (const place of placed) if (taken.has(place.key)) place.key += `-${letters(Math.random, 5, '0123456789abcdef')}`
  await trx
    .insertInto('campaigns')
    .values(
      placed.map(({ campaign, campaign_id, offer_id, funnel, key }) => ({
        org_id,
        id: campaign_id,
        name: campaign.name,
        key,
        destination: JSON.stringify(
          funnel === undefined
            ? {
                type: 'redirect',
                url: `https://offers.example/${OFFERS[campaign.offer].path}?click={click_id}&creative={sub1}`,
              }
            : { type: 'funnel', funnel_id: funnel.funnel_id },
        ),
        offer_id: funnel === undefined ? offer_id : null,
        fallback_url: 'https://offers.example/closed',
        source: JSON.stringify(campaign.origin === 'push' ? { ref_id: 'clickid', sub1: 'zoneid' } : {}),
        strict_filter: false,
        ...times,
      })),
    )
    .execute()
  await trx
    .insertInto('campaign_keys')
    .values(placed.map(({ key, campaign_id }) => ({ org_id, campaign_id, key })))
    .execute()
  return placed
}
