// The demo's spend account at Meta and its spend. It is switched off, so that Sluice never calls Meta with the made-up token.
import type { Transaction } from 'kysely'
import { DAY_MS, dayOf } from '../src/contract/days.ts'
import { newId } from '../src/contract/ids.ts'
import type { Secrets } from '../src/ground/db/secrets.ts'
import type { Tables } from '../src/ground/db/tables.ts'
import { bookSpend } from '../src/money/ad-spend/booked.ts'
import { chanceOf } from './chance.ts'
import type { DemoClick, Place } from './traffic.ts'

type Trx = Transaction<Tables>
type SpendSeed = { org_id: number; user_id: string; seed: string; now: number; secrets: Pick<Secrets, 'seal'> }
type AdSpendOfDay = { day: string; external_id: string; campaign_id: string | null; amount: string }

const TOKEN = 'EAADEMOthisIsNoTokenOfAnySystemUser'
const NAME = 'Demo Media ads (made up)'
/** Days since it was connected. */
const DAYS = 30
/** An ad whose link lacks the id, so that its spend is unmatched. */
const STRAY = { external_id: '120214880000000905', name: 'SolarSave · lookalike 2 % · carousel', days: 6 }

/** The start of the account's spend. */
export const toldFrom = (now: number): number => now - (now % DAY_MS) - (DAYS - 1) * DAY_MS

export async function insertSpendAccount(
  trx: Trx,
  seeded: SpendSeed,
  places: readonly Place[],
  clicks: readonly DemoClick[],
): Promise<void> {
  const { org_id, user_id, seed, now, secrets } = seeded
  const [from, id] = [toldFrom(now), newId(toldFrom(now))]
  const read = new Date(now - 12 * 60_000).toISOString()
  const times = { synced_at: read, due_at: read, created_at: new Date(from).toISOString(), updated_at: read }
  const there = {
    provider: 'meta',
    external_id: '100000000000000',
    timezone: 'Europe/Berlin',
    currency: 'USD',
  } as const
  await trx
    .insertInto('spend_accounts')
    .values({
      org_id,
      id,
      ...there,
      ...times,
      name: NAME,
      token: secrets.seal(TOKEN),
      token_hint: `…${TOKEN.slice(-4)}`,
      id_in: 'sub1',
      level: 'ad',
      state: 'off',
      created_by: user_id,
    })
    .execute()
  const known = places.filter(({ campaign }) => campaign.readFromAccount === true)
  const spent = [...known.flatMap(place => spentOf(place, seed, clicks, from)), ...strayOf(seed, now)]
  const row = { org_id, account_id: id, is_estimated: false }
  await trx
    .insertInto('account_spend')
    .values(spent.map(one => ({ ...row, ...one, name: nameOf(one.external_id), sub1: one.external_id })))
    .execute()
  const cells = spent.flatMap(({ day, campaign_id, external_id, amount }) =>
    campaign_id === null ? [] : [{ day, campaign_id, sub1: external_id, amount }],
  )
  await bookSpend(trx, org_id, `account:${id}`, cells)
}

const nameOf = (external_id: string): string =>
  external_id === STRAY.external_id ? STRAY.name : `SolarSave · lookalike 2 % · video ${external_id.slice(-1)}`

/** The spend of each ad of a campaign on each day with clicks of it. */
function spentOf(
  { campaign, campaign_id }: Place,
  seed: string,
  clicks: readonly DemoClick[],
  from: number,
): AdSpendOfDay[] {
  const own = clicks.filter(click => click.campaign_id === campaign_id && click.ms >= from && click.sub1 !== null)
  return [...Map.groupBy(own, ({ ms, sub1 }) => `${dayOf(ms)} ${sub1}`)].map(([place, of]) => {
    const [day = '', external_id = ''] = place.split(' ')
    const chance = chanceOf(seed, 'account', campaign.key, day, external_id)
    const amount = (of.length * campaign.cost_per_click * (0.9 + chance() * 0.2)).toFixed(2)
    return { day, external_id, campaign_id, amount }
  })
}

const strayOf = (seed: string, now: number): AdSpendOfDay[] =>
  Array.from({ length: STRAY.days }, (_, ago) => {
    const day = dayOf(now - ago * DAY_MS)
    const amount = (6 + 5 * chanceOf(seed, 'account', 'stray', day)()).toFixed(2)
    return { day, external_id: STRAY.external_id, campaign_id: null, amount }
  })
