/** Clicks, conversions and people, which are found by exact ids only. Each search uses an index. */
import { type RawBuilder, sql } from 'kysely'
import { MOST_FOUND } from './api.ts'
import type { FoundRow } from './named.ts'

const rowsOf = (kind: string, found_by: string, name: RawBuilder<unknown>, changed_at: RawBuilder<unknown>) =>
  sql`${kind}::text as kind, o.id, ${name} as name, ${found_by}::text as found_by, 0 as rank, ${changed_at} as changed_at`

const CREATED = sql`o.created_at`
const LIMIT = sql`limit ${MOST_FOUND}`

/** A click has no time of its own: its id begins with its milliseconds. */
const CLICKED = sql`to_timestamp(('x' || substr(replace(o.id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0)`
const clicksBy = (found_by: string, org_id: number, condition: RawBuilder<unknown>) => sql`
  select ${rowsOf('click', found_by, sql`coalesce(c.name, '')`, CLICKED)}
  from clicks o left join campaigns c on c.org_id = o.org_id and c.id = o.campaign_id
  where o.org_id = ${org_id} and ${condition}`

const eventsBy = (found_by: string, org_id: number, condition: RawBuilder<unknown>) => sql`
  select ${rowsOf('event', found_by, sql`concat_ws(' ', o.type, o.nonce)`, CREATED)}
  from events o where o.org_id = ${org_id} and ${condition}`

const subscribersBy = (found_by: string, org_id: number, condition: RawBuilder<unknown>) => sql`
  select ${rowsOf('subscriber', found_by, sql`coalesce(o.name, o.telegram_user_id)`, CREATED)}
  from subscribers o where o.org_id = ${org_id} and ${condition}`

const personsBy = (found_by: string, org_id: number, condition: RawBuilder<unknown>) => sql`
  select ${rowsOf('person', found_by, sql`coalesce(o.telegram_user_id, '')`, CREATED)}
  from persons o where o.org_id = ${org_id} and ${condition}`

/** The statements for rows whose id is sought. */
export function byId(org_id: number, uuid: string): readonly RawBuilder<FoundRow>[] {
  const id = sql`o.id = ${uuid}::uuid`
  return [
    clicksBy(
      'id',
      org_id,
      sql`o.id in (select ${uuid}::uuid union all select click_id from click_aliases where org_id = ${org_id} and id = ${uuid}::uuid)`,
    ),
    eventsBy('id', org_id, id),
    subscribersBy('id', org_id, id),
    personsBy('id', org_id, id),
  ] as readonly RawBuilder<FoundRow>[]
}

/** The statements for clicks and conversions that others gave this id, and for the person with this Telegram user id. */
export function byOthersIds(org_id: number, text: string): readonly RawBuilder<FoundRow>[] {
  const found = [
    sql`${eventsBy('transaction_id', org_id, sql`o.nonce = ${text}`)} ${LIMIT}`,
    sql`${clicksBy('ref_id', org_id, sql`o.ref_id = ${text}`)} ${LIMIT}`,
  ]
  if (/^[1-9]\d{1,18}$/.test(text)) {
    const person = sql`(select person_id from person_keys where org_id = ${org_id} and key = ${`t:${text}`})`
    found.push(
      sql`${subscribersBy('telegram_user_id', org_id, sql`o.telegram_user_id = ${text}`)} ${LIMIT}`,
      personsBy('telegram_user_id', org_id, sql`o.id = ${person}`),
    )
  }
  return found as RawBuilder<FoundRow>[]
}
