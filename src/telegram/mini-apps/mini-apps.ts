/**
 * Mini Apps: pages that open inside Telegram. Telegram sends no update for a launch, so the page posts it with Telegram's signature. A launch is recorded once
 * per bot, person and click. Owns no table. Reads bots, organizations and events.
 */
import { toUuid } from '../../contract/ids.ts'
import { Refusal, refuse } from '../../contract/refusals.ts'
import { clickOfStart } from '../../contract/telegram.ts'
import { isUnreachable } from '../../ground/db/faults.ts'
import { type Answer, type Deed, type Ground, isOfHost, type Visit } from '../../ground/room.ts'
import { networkOf } from '../../ground/network.ts'
import type { Conversions } from '../../intake/events/conversions.ts'
import type { LiveCampaigns } from '../../traffic/campaigns/live.ts'
import { clickOfPerson } from '../members/attribution.ts'
import { recordLaunch } from '../subscribers/listener.ts'
import type * as api from './api.ts'
import { type Launch, readInitData } from './signed-launch.ts'

type MiniAppParts = {
  live: Pick<LiveCampaigns, 'object'>
  conversions: Pick<Conversions, 'recordOwn'>
  /** Counts a call against the network's limit per minute; refuses `rate_limited`. */
  spend: (network: string) => Promise<void>
}

/** The deeds of the room, on the queue that records launches. */
export function miniAppDeeds(parts: MiniAppParts): { launchMiniApp: Deed<typeof api.launchMiniApp> } {
  return { launchMiniApp: (ground, visit) => answered(() => launch(parts, ground, visit)) }
}

/** Pages of any origin may read the answer: the request carries no cookie and is authenticated by its signature. */
const ANY_ORIGIN = { 'access-control-allow-origin': '*', 'cache-control': 'no-store' }

async function answered(deed: () => Promise<void>): Promise<Answer> {
  try {
    await deed()
    return { status: 200, headers: ANY_ORIGIN, body: { ok: true } }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Refusal(error.refusal, { ...error.detail, headers: { ...error.detail.headers, ...ANY_ORIGIN } })
  }
}

async function launch(parts: MiniAppParts, ground: Ground, { ip, params, body, host }: Visit): Promise<void> {
  await parts.spend(networkOf(ip))
  const launched = readInitData(body, Date.now())
  if (typeof launched === 'string') refuse('init_data_wrong', { error: `init data refused: ${launched}` })
  const id = toUuid(params['bot'] ?? '')
  const bot = id === undefined ? undefined : parts.live.object('bot', id)
  if (bot === undefined || !isOfHost(host, bot.org_id)) refuse('init_data_wrong')
  try {
    await requireSigned(ground, bot, launched)
    await record(parts, ground, bot, launched)
  } catch (error) {
    if (isUnreachable(error)) refuse('service_unavailable', { headers: { 'retry-after': '5' } })
    throw error
  }
}

type LaunchedBot = { readonly org_id: number; readonly id: string }

/** Refuses `init_data_wrong` for a launch that is not signed with the bot's token, and `org_deleted`. */
async function requireSigned(
  { db, secrets }: Ground,
  { org_id, id }: LaunchedBot,
  { isSignedBy }: Launch,
): Promise<void> {
  const bot = await db
    .selectFrom('bots as b')
    .innerJoin('organizations as o', 'o.org_id', 'b.org_id')
    .select(['b.token', 'o.deleted_at'])
    .where('b.org_id', '=', org_id)
    .where('b.id', '=', id)
    .where('b.deleted_at', 'is', null)
    .executeTakeFirst()
  if (bot === undefined || !isSignedBy(secrets.open(bot.token))) refuse('init_data_wrong')
  if (bot.deleted_at !== null) refuse('org_deleted')
}

/** Without a click the launch is organic: nothing is recorded, as with a start. */
async function record(
  { conversions }: MiniAppParts,
  ground: Ground,
  { org_id, id: bot_id }: LaunchedBot,
  launched: Launch,
): Promise<void> {
  const { telegram_user_id, start_param } = launched
  if (telegram_user_id === undefined) return
  const named = clickOfStart(start_param ?? '')
  const { may_write, language, at } = launched
  await recordLaunch(ground.db, { org_id, bot_id, telegram_user_id, may_write, language, at, click_id: named })
  const click_id = named ?? (await clickOfPerson(ground.db, org_id, telegram_user_id))
  if (click_id === undefined) return
  const nonce = `${bot_id} ${telegram_user_id}`
  try {
    await conversions.recordOwn({
      org_id,
      click_id,
      bot_id,
      telegram_user_id,
      type: 'miniapp_launch',
      nonce,
      payload: {},
    })
  } catch (error) {
    if (!(error instanceof Refusal) || error.refusal !== 'click_not_found') throw error
  }
}
