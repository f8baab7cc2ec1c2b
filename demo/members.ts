// Members of the demo's channels: joins from its campaign's clicks, organic members, some who left, and join requests.
import type { Transaction } from 'kysely'
import { DAY_MS, HOUR_MS } from '../src/contract/days.ts'
import { newId } from '../src/contract/ids.ts'
import type { Tables } from '../src/ground/db/tables.ts'
import type { Books } from './books.ts'
import { type Chance, chanceOf, later } from './chance.ts'
import { CHAT, REASON, SIGNALS } from './channels.ts'

type Trx = Transaction<Tables>
type Filling = { org_id: number; seed: string; now: number }

const iso = (ms: number) => new Date(ms).toISOString()

/** Most members who leave do so within a week. */
const LEAVES = 0.34
const STAYED_DAYS = 6
/** In addition to members from ads. */
const ORGANIC = 0.11
const ASKED = 46
const PENDING = 7

/** Inserts members and requests, by the joins in the books. */
export async function insertMembers(trx: Trx, filling: Filling, { events }: Pick<Books, 'events'>): Promise<void> {
  const { org_id, seed, now } = filling
  const chance = chanceOf(seed, 'members')
  const channels = await trx.selectFrom('channels').select(['id', 'chat_id']).where('org_id', '=', org_id).execute()
  const idOf = (chat_id: number) => channels.find(one => one.chat_id === String(chat_id))?.id ?? ''
  const joins = events.filter(({ type }) => type === 'channel_join')
  const signals = idOf(SIGNALS.chat_id)
  const known = joins.map(({ ms, telegram_user_id, click_id, campaign_id, id, payload }) => ({
    ...memberOf(chance, ms, now),
    org_id,
    channel_id: signals,
    telegram_user_id: telegram_user_id ?? '',
    click_id,
    campaign_id,
    event_id: id,
    certainty: String(payload?.['attribution']),
  }))
  const organic = joins
    .filter(() => chance() < ORGANIC)
    .map(({ ms }) => organicOf(chance, { org_id, channel_id: signals }, ms + chance() * HOUR_MS, now))
  const requests = requestsOf(chance, { org_id, channel_id: idOf(CHAT.chat_id) }, now)
  const letIn = requests.flatMap(({ state, channel_id, telegram_user_id, asked_at }) =>
    state === 'approved'
      ? [{ ...organicOf(chance, { org_id, channel_id }, Date.parse(asked_at) + 32_000, now), telegram_user_id }]
      : [],
  )
  // Ids in the order of their joins, because lists are sorted by id.
  const members = [...known, ...organic, ...letIn].toSorted((a, b) => (a.joined_at < b.joined_at ? -1 : 1))
  if (members.length > 0)
    await trx
      .insertInto('channel_members')
      .values(members.map(member => ({ ...member, id: newId(Date.parse(member.joined_at)) })))
      .execute()
  await trx.insertInto('join_requests').values(requests).execute()
}

const organicOf = (chance: Chance, place: { org_id: number; channel_id: string }, ms: number, now: number) => ({
  ...memberOf(chance, Math.min(ms, now), now),
  ...place,
  telegram_user_id: String(5_000_000_000 + Math.floor(chance() * 2_000_000_000)),
  click_id: null,
  campaign_id: null,
  event_id: null,
  certainty: 'organic',
})

/** A member who joined at that time and may have left. */
function memberOf(chance: Chance, ms: number, now: number) {
  const left = ms + later(chance, STAYED_DAYS * DAY_MS)
  const hasLeft = chance() < LEAVES && left < now
  const state = hasLeft ? (chance() < 0.06 ? 'kicked' : 'left') : 'in'
  const joined_at = iso(ms - (ms % 1000))
  return { state, joined_at, left_at: hasLeft ? iso(left) : null, state_at: hasLeft ? iso(left) : joined_at, times: 1 }
}

function requestsOf(chance: Chance, place: { org_id: number; channel_id: string }, now: number) {
  return Array.from({ length: ASKED }, (_, n) => {
    const isNew = n >= ASKED - PENDING
    const ms = isNew ? now - later(chance, 3 * HOUR_MS) : now - DAY_MS - later(chance, 9 * DAY_MS)
    const gone = !isNew && chance() < 0.08
    const decided = isNew ? null : iso(ms + 31_000)
    return {
      ...place,
      id: newId(ms),
      telegram_user_id: String(5_000_000_000 + Math.floor(chance() * 2_000_000_000)),
      state: isNew ? 'pending' : gone ? 'gone' : 'approved',
      asked_at: iso(ms - (ms % 1000)),
      due_at: iso(ms + 30_000),
      certainty: 'organic',
      decided_at: decided,
      decided_by: decided === null ? null : gone ? 'telegram' : 'rule',
      reason: isNew ? REASON : gone ? 'Bad Request: HIDE_REQUESTER_MISSING' : null,
    }
  })
}
