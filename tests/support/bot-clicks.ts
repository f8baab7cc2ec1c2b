// Clicks that lead to a bot, as visitors make them, and subscribers as the API lists them.
import assert from 'node:assert/strict'
import { type BotGround, PUBLIC } from './bots.ts'
import { BROWSER } from './visits.ts'

export type BotCampaign = {
  readonly id: string
  /** Makes a click; returns the parameter of its start, which is its id. */
  click(): Promise<string>
}

/** Creates a campaign of the ground's owner that leads to the bot. */
export async function botCampaign(
  { house, call }: BotGround,
  bot_id: string,
  fields: object = {},
): Promise<BotCampaign> {
  const body = { name: 'To the bot', destination: { type: 'bot', bot_id }, ...fields }
  const made = await call('POST', '/api/campaigns', body)
  assert.equal(made.statusCode, 201, made.body)
  const { id, key } = made.data() as { id: string; key: string }
  return {
    id,
    async click() {
      const visit = await house.call('GET', `/c/${key}?sub1=banner-7`, {
        headers: { ...BROWSER, host: new URL(PUBLIC).host },
      })
      assert.equal(visit.statusCode, 302, visit.body)
      return new URL(String(visit.headers.location)).searchParams.get('start') ?? ''
    },
  }
}

type ListedSubscriber = Record<string, unknown> & { id: string; state: string }

/** The subscribers of a bot, newest first. */
export async function subscribersOf({ call }: BotGround, bot_id: string, more = ''): Promise<ListedSubscriber[]> {
  const reply = await call('GET', `/api/subscribers?bot_id=${bot_id}${more}`)
  assert.equal(reply.statusCode, 200, reply.body)
  return reply.data()['data'] as ListedSubscriber[]
}
