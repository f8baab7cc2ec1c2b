// The receivers of a soak's postbacks: one is healthy, the others are slow, stumble, fail or hang, so that retries and breakers work all the time.
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId, toUuid } from '../../src/contract/ids.ts'
import { SICKNESSES } from '../../tests/support/sick-receivers.ts'
import { startReceiver } from '../../tests/support/receiver.ts'
import type { BenchGround } from '../ground.ts'
import type { Organization } from '../organizations.ts'
import { addId, type IdSum, noIds } from './id-sum.ts'

/** The first is called for every conversion, each other one for those of one campaign. */
export const RECEIVERS = ['healthy', 'slow', 'stumbling', 'failing', 'hanging'] as const
export type ReceiverName = (typeof RECEIVERS)[number]
/** These answer every call with 200, so each delivery must arrive exactly once. */
export const WELL: readonly ReceiverName[] = ['healthy', 'slow']

/** `called` are the clicks of all calls, `taken` those of calls that were answered with 200. */
export type SoakReceiver = { name: ReceiverName; origin: string; called: IdSum; taken: IdSum; close(): Promise<void> }

/** Of the calls of the stumbling one, so many in a row have one that fails. */
const STUMBLE = 3

type Answer = (response: ServerResponse, call: number) => boolean | Promise<boolean>

/** True if the answer was 200. */
const ANSWERS: Record<ReceiverName, Answer> = {
  healthy: succeed,
  slow: async response => {
    await sleep(1000 + 2000 * Math.random())
    return succeed(response)
  },
  stumbling: (response, call) => (call % STUMBLE === 0 ? fail(response) : succeed(response)),
  failing: fail,
  hanging: () => false,
}

function succeed(response: ServerResponse): boolean {
  response.end('ok')
  return true
}

function fail(response: ServerResponse): boolean {
  void SICKNESSES['fails']?.(response)
  return false
}

export async function startReceivers(): Promise<SoakReceiver[]> {
  return Promise.all(RECEIVERS.map(startOne))
}

async function startOne(name: ReceiverName): Promise<SoakReceiver> {
  const [called, taken] = [noIds(), noIds()]
  const receiver = await startReceiver(async ({ url }, response) => {
    // Nothing is kept of a call but its click.
    receiver.arrivals.length = 0
    const click = toUuid(new URL(url, receiver.origin).searchParams.get('click') ?? '') ?? ''
    addId(called, click)
    if (await ANSWERS[name](response, called.count)) addId(taken, click)
  })
  return { name, origin: receiver.origin, called, taken, close: () => receiver.close() }
}

/** Adds a rule for each receiver but the healthy one, whose rule the organization has. */
export async function addRules(
  { database }: BenchGround,
  { org_id, campaigns }: Organization,
  receivers: readonly SoakReceiver[],
): Promise<void> {
  const now = new Date().toISOString()
  const rows = receivers
    .filter(({ name }) => name !== 'healthy')
    .map(({ origin }, at) => ({
      org_id,
      id: newId(),
      event_type: 'lead',
      campaign_id: campaigns[at] ?? null,
      url: `${origin}/postback?click={click_id}`,
      method: 'GET' as const,
      active: true,
      created_at: now,
      updated_at: now,
    }))
  await database.kysely.insertInto('postback_rules').values(rows).execute()
}
