/** Objects with a name, as they are found: by name or id, whatever room owns their table. Nothing secret is searched. */
import { type RawBuilder, sql } from 'kysely'
import type { Member } from '../../ground/room.ts'
import { JOIN_ORGANIZATION } from '../keys/key-organization.ts'
import type { FoundObject } from './api.ts'

/** The text that is sought, and the id that it may be. */
type SoughtText = { readonly text: string; readonly uuid: string | null }

/** A row of each search. `rank`: 0 for an exact id, 1 for the begin of a name, 2 for its inside. */
export type FoundRow = FoundObject & { readonly rank: number; readonly changed_at: string }

/** Where the objects `o` of a kind stand, by which texts they are found, and when they were changed last. */
type NamedKind = {
  readonly kind: FoundObject['kind']
  readonly from: RawBuilder<unknown>
  readonly name: RawBuilder<unknown>
  readonly texts?: readonly RawBuilder<unknown>[]
  readonly changed_at?: RawBuilder<unknown>
}

const notDeleted = (table: string, org_id: number) =>
  sql`${sql.table(table)} o where o.org_id = ${org_id} and o.deleted_at is null`
const NAME = sql`o.name`
const CREATED = sql`o.created_at`
const HOST = sql`substring(o.url from '^[^:]*://([^/?#]*)')`

const simple: readonly [FoundObject['kind'], table: string][] = [
  ['offer', 'offers'],
  ['landing', 'landings'],
  ['funnel', 'funnels'],
  ['click_flow', 'click_flows'],
  ['traffic_source', 'traffic_sources'],
  ['network', 'networks'],
  ['domain', 'domains'],
  ['ad_account', 'ad_accounts'],
]

function kindsFor(actor: Member): readonly NamedKind[] {
  const { org_id } = actor
  const here = sql`o.org_id = ${org_id}`
  return [
    ...simple.map(([kind, table]) => ({ kind, from: notDeleted(table, org_id), name: NAME })),
    { kind: 'campaign', from: notDeleted('campaigns', org_id), name: NAME, texts: [NAME, sql`o.key`] },
    {
      kind: 'postback',
      from: notDeleted('postback_rules', org_id),
      name: sql`o.event_type || ' ' || ${HOST}`,
      texts: [sql`o.event_type || ' ' || ${HOST}`, HOST],
    },
    {
      kind: 'spend_account',
      from: notDeleted('spend_accounts', org_id),
      name: sql`coalesce(nullif(o.name, ''), o.external_id)`,
      texts: [NAME, sql`o.external_id`],
    },
    {
      kind: 'bot',
      from: notDeleted('bots', org_id),
      name: sql`'@' || o.username`,
      texts: [sql`o.username`, sql`'@' || o.username`, NAME],
      changed_at: sql`coalesce(o.updated_at, o.created_at)`,
    },
    {
      kind: 'channel',
      from: notDeleted('channels', org_id),
      name: sql`o.title`,
      texts: [sql`o.title`, sql`o.username`, sql`'@' || o.username`],
    },
    { kind: 'tag', from: sql`tags o where ${here}`, name: NAME },
    { kind: 'receiver', from: sql`receivers o where ${here}`, name: NAME },
    { kind: 'rule', from: sql`rules o where ${here}`, name: NAME },
    { kind: 'broadcast', from: sql`broadcasts o where ${here}`, name: NAME },
    ...peopleFor(actor),
    {
      kind: 'cap',
      from: sql`caps o left join offers f on f.org_id = o.org_id and f.id = o.object_id
        left join campaigns c on c.org_id = o.org_id and c.id = o.object_id
        where ${here} and o.deleted_at is null and coalesce(f.deleted_at, c.deleted_at) is null`,
      name: sql`coalesce(f.name, c.name, '')`,
    },
  ]
}

/** What depends on the person: views of their own, members, and invitations, which members do not read. */
function peopleFor({ org_id, user_id, role }: Member): readonly NamedKind[] {
  const here = sql`o.org_id = ${org_id}`
  return [
    {
      kind: 'view',
      from: sql`explore_views o where ${here} and (o.is_shared or o.created_by = ${user_id})`,
      name: NAME,
    },
    {
      kind: 'member',
      from: sql`members o join users u on u.id = o.user_id where ${here}`,
      name: sql`u.name`,
      texts: [sql`u.name`, sql`u.email`],
      changed_at: sql`o.joined_at`,
    },
    ...(role === 'member'
      ? []
      : [
          {
            kind: 'invitation',
            from: sql`invitations o where ${here} and o.accepted_at is null and o.withdrawn_at is null`,
            name: sql`o.email`,
            changed_at: CREATED,
          } as const,
        ]),
  ]
}

/** Keys are no rows of an organization: people see their own ones, owners and admins all that act in the workspace. */
function keysFor({ org_id, user_id, role }: Member, sought: SoughtText): RawBuilder<FoundRow> {
  const key = sql`(
    select k.id, k.name, k.created_at from api_keys k
    left join api_key_grants g on g.key_id = k.id
    ${sql.raw(JOIN_ORGANIZATION)}
    where k.user_id = ${user_id} or (o.org_id = ${org_id} and ${role !== 'member'})) o where true`
  return ranked({ kind: 'api_key', from: key, name: NAME, changed_at: CREATED }, sought)
}

/** The objects of all kinds that the person may see and that have the id or hold the text. */
export const namedObjects = (actor: Member, sought: SoughtText): readonly RawBuilder<FoundRow>[] => [
  sql.join(
    kindsFor(actor).map(kind => ranked(kind, sought)),
    sql` union all `,
  ),
  keysFor(actor, sought),
]

function ranked(
  { kind, from, name, texts = [name], changed_at = sql`o.updated_at` }: NamedKind,
  { text, uuid }: SoughtText,
): RawBuilder<FoundRow> {
  const ranks = texts.map(searched => {
    const at = sql`strpos(lower(${searched}), lower(${text}::text))`
    return sql`case when ${at} = 1 then 1 when ${at} > 1 then 2 end`
  })
  return sql`
    select kind, id, name, case rank when 0 then 'id' else 'name' end as found_by, rank, changed_at
    from (select ${kind}::text as kind, o.id, ${name} as name, ${changed_at} as changed_at,
        case when o.id = ${uuid}::uuid then 0 else least(${sql.join(ranks)}) end as rank
      from ${from}) ${sql.ref(`of_${kind}`)}
    where rank is not null`
}
