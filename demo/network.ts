// The demo's affiliate network: its postbacks, and the refused ones.
import { sql } from 'kysely'
import { DAY_MS, dayOf, HOUR_MS } from '../src/contract/days.ts'
import type { EventType } from '../src/contract/event-types.ts'
import { toWireId } from '../src/contract/ids.ts'
import { highestRung, LANDED } from '../src/contract/ladder.ts'
import { Refusal } from '../src/contract/refusals.ts'
import type { Ground } from '../src/ground/room.ts'
import { insertNetwork } from '../src/intake/networks/networks.ts'
import { type Fields, type NetworkMaps, readCall } from '../src/intake/networks/read-call.ts'
import { keptCall } from '../src/intake/networks/receive.ts'
import { Diagnosed } from '../src/intake/refused-events/diagnosis.ts'
import { openKeeper } from '../src/intake/refused-events/keep.ts'
import { unknownRate } from '../src/money/rates/rate-of-day.ts'
import { type Chance, chanceOf, letters } from './chance.ts'
import type { Founding } from './objects.ts'
import type { DemoClick, DemoEvent } from './traffic.ts'

/** The network in the organization, and the maps of its postbacks. */
export type PlacedNetwork = { id: string; reading: NetworkMaps }

export async function placeNetwork({ trx, org_id, nextId, times, secrets }: Founding): Promise<PlacedNetwork> {
  const { created_at } = times
  const named = { org_id, id: nextId(), name: 'AffMine', template: 'keitaro' as const, created_at }
  const { id, ...reading } = await insertNetwork(trx, secrets, named)
  return { id, reading }
}

/** The network's names of event types; for other types it uses ours. */
const WORDS: Partial<Record<EventType, string>> = { registration: 'reg', ftd: 'ftd', deposit: 'dep' }

/** Its payout of a paid conversion, in euro. */
export const EURO_PAYOUT = '78'

/** The postback of a conversion. */
export function callOf({ click, type, nonce, payout }: DemoEvent): Fields {
  return { subid: toWireId(click.id), payout: payout ?? '', tid: nonce, status: WORDS[type] ?? type, currency: 'EUR' }
}

/** The days that refused postbacks are kept, minus one so that they are still there tomorrow. */
const KEPT_DAYS = 28

/** Wrong postbacks for a click of the network, such as first tests with unfilled macros, and unknown statuses. */
const WRONG: readonly ((right: Fields) => Fields)[] = [
  right => ({ ...right, status: 'rejected' }),
  right => ({ ...right, status: 'kyc_passed' }),
  right => ({ ...right, subid: '{subid}', tid: '{transaction_id}' }),
  right => ({ ...right, currency: 'XAF', payout: '51000' }),
  right => ({ ...right, status: 'chargeback' }),
  right => ({ ...right, subid: right['subid']?.slice(0, 20) ?? '' }),
  right => ({ ...right, status: 'kyc_passed' }),
  right => ({ ...right, subid: '' }),
  right => ({ ...right, payout: '1,250.00' }),
  right => ({ ...right, status: 'rejected' }),
  right => ({ ...right, subid: 'test' }),
]

/** Postbacks from this one on are of the last day, so that the overview shows some. */
const EARLIER = WRONG.length - 3

type Keeping = Pick<Ground, 'db' | 'log' | 'secrets'> & { org_id: number; seed: string; now: number }

// The last postback of a network, recorded or refused.
const HEARD = (org_id: number, id: string) => sql`
  update networks set last_received_at = greatest(
    (select max(created_at) from events where org_id = ${org_id} and source = 'network'),
    (select max(received_at) from refused_events where org_id = ${org_id} and network_id = ${id}))
  where org_id = ${org_id} and id = ${id}`

/** Inserts refused postbacks for some of the network's latest clicks; `clicks` are in the order they were made. */
export async function keepRefused(
  { org_id, seed, now, ...ground }: Keeping,
  { id: network_id, reading }: PlacedNetwork,
  clicks: readonly DemoClick[],
): Promise<void> {
  const chance = chanceOf(seed, 'refused')
  const late = clicks.filter(({ ms, tracked }) => tracked && ms > now - KEPT_DAYS * DAY_MS && ms < now - HOUR_MS)
  const further = late.filter(({ stages }) => highestRung(stages) > LANDED)
  const latest = further.length < WRONG.length ? late : further
  const today = late.filter(({ ms }) => ms > now - DAY_MS)
  const keeper = openKeeper(ground)
  const kept = WRONG.map((wrong, at) => {
    const [clicks, place] = at < EARLIER ? [latest, (at + chance()) / EARLIER] : [today, chance()]
    const click = clicks[Math.floor(place * clicks.length)]
    if (click === undefined) return Promise.resolve(true)
    const fields = wrong(rightCall(chance, click))
    const call = {
      org_id,
      network_id,
      fields,
      ip: '203.0.113.40',
      received_at: click.ms + Math.floor(chance() * HOUR_MS),
    }
    return keeper.keep({
      ...keptCall(call, reading.parameters),
      refusal: refusalOf(fields, { reading, org_id, network_id, received_at: call.received_at }),
    })
  })
  const areKept = (await Promise.all(kept)).every(Boolean)
  await keeper.close()
  if (!areKept) throw new Error('refused calls of the demo could not be kept')
  await HEARD(org_id, network_id).execute(ground.db)
}

function rightCall(chance: Chance, click: DemoClick): Fields {
  const conversion = {
    click,
    type: 'ftd',
    ms: click.ms,
    nonce: letters(chance, 12, '0123456789'),
    payout: EURO_PAYOUT,
  } as const
  return callOf({ ...conversion, telegram_user_id: undefined })
}

/** The refusal of such a postback; an invalid id only fails when the click is looked up. */
function refusalOf(
  fields: Fields,
  { reading, received_at, ...from }: { reading: NetworkMaps; org_id: number; network_id: string; received_at: number },
): Refusal {
  try {
    const read = readCall(fields, reading, { ...from, arrived_at: 0 })
    // A verdict before its conversion was recorded.
    if (read.kind === 'revision') return new Refusal('conversion_unknown')
    const { foreign } = read
    if (foreign !== undefined && foreign.currency !== 'EUR')
      return new Diagnosed('rate_unknown', unknownRate({ currency: foreign.currency, day: dayOf(received_at) }).message)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error(`the demo calls something wrong that is right: ${JSON.stringify(fields)}`)
}
