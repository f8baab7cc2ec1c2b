/** The message that answers a start, once per person and 24 hours. A task sends it, so that neither a restart nor a burst of starts loses or repeats it. */
import { type Kysely, sql } from 'kysely'
import { HOUR_MS } from '../../contract/days.ts'
import { SUBS } from '../../contract/fields.ts'
import { toWireId } from '../../contract/ids.ts'
import { channelsIn, type Message } from '../../contract/telegram-message.ts'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Ground } from '../../ground/room.ts'
import type { LiveBot } from '../bots/live.ts'
import { type MessageValues, sendMessage } from '../messages/messages.ts'
import {
  afterFailure,
  insertTask,
  type TaskOutcome,
  type Task,
  type TaskBot,
  ARRIVAL_UNKNOWN,
  wakeTasks,
} from '../tasks/tasks.ts'
import { type PersonActivity, markSubscriber, reachabilityAfter } from './reachability.ts'

/** A welcome that is an hour late is of no use. */
const GIVE_UP_MS = HOUR_MS

/** Creates the task in mode `own`. In the other modes the bot's own program welcomes. */
export async function requestWelcome(
  db: Kysely<Tables>,
  bot: LiveBot,
  { telegram_user_id, at, click }: PersonActivity,
): Promise<void> {
  if (bot.mode !== 'own' || !bot.has_welcome) return
  const { org_id, id: bot_id } = bot
  const isCreated = await db.transaction().execute(async trx => {
    const { numAffectedRows } = await sql`
      update subscribers set welcomed_at = ${at}
      where org_id = ${org_id} and bot_id = ${bot_id} and telegram_user_id = ${telegram_user_id}
        and (welcomed_at is null or welcomed_at <= ${at}::timestamptz - interval '24 hours')`.execute(trx)
    if (numAffectedRows !== 1n) return false
    return await insertTask(trx, {
      org_id,
      bot_id,
      telegram_user_id,
      kind: 'welcome',
      once_key: `${telegram_user_id} ${at}`,
      asked: { click_id: click?.id ?? null },
      due_at: await databaseTimeIn(trx, 0),
      give_up_at: await databaseTimeIn(trx, GIVE_UP_MS),
    })
  })
  if (isCreated) wakeTasks(db)
}

type LinkFor = (click: {
  org_id: number
  channel_id: string
  click_id: string
  campaign_id: string | null
}) => Promise<string | undefined>

/** The runner of the task. `linkFor` returns the channel link of a click, for a button that leads to a channel. */
export const sendWelcome =
  ({ db, config }: Pick<Ground, 'db' | 'config'>, linkFor: LinkFor) =>
  async (task: Task, bot: TaskBot, leaves: () => void): Promise<TaskOutcome> => {
    if (task.is_cut) return { is: 'failed', reason: ARRIVAL_UNKNOWN }
    const { org_id, bot_id, telegram_user_id, asked } = task
    const message = await welcomeOf(db, bot)
    if (message === undefined) return { is: 'gone', reason: 'the bot no longer has a welcome message' }
    const click_id = typeof asked['click_id'] === 'string' ? asked['click_id'] : undefined
    const { values, click } = await macroValues(db, { org_id, bot_id, telegram_user_id }, click_id)
    const links = new Map<string, string>()
    for (const channel_id of channelsIn(message)) {
      const link = click && (await linkFor({ org_id, channel_id, click_id: click.id, campaign_id: click.campaign_id }))
      if (link !== undefined) links.set(channel_id, link)
    }
    leaves()
    const answer = await sendMessage(config.telegramApiRoot, bot.token, message, {
      chat_id: telegram_user_id,
      values,
      links,
    })
    if (answer.ok) return { is: 'done' }
    const state = reachabilityAfter(answer, message)
    if (state === undefined) return afterFailure(answer)
    await markSubscriber(db, { org_id, bot_id, telegram_user_id, state, at: new Date().toISOString() })
    return { is: 'gone', reason: answer.description }
  }

async function welcomeOf(db: Kysely<Tables>, { org_id, id }: TaskBot): Promise<Message | undefined> {
  const row = await db
    .selectFrom('bots')
    .select(['welcome', 'mode'])
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.mode === 'own' ? ((row.welcome as Message | null) ?? undefined) : undefined
}

/** The macro values for a person: from the given click, otherwise from the subscriber's click. */
export async function macroValues(
  db: Kysely<Tables>,
  { org_id, bot_id, telegram_user_id }: { org_id: number; bot_id: string; telegram_user_id: string },
  of_click: string | undefined,
): Promise<{ values: MessageValues; click?: { id: string; campaign_id: string | null } }> {
  const person = await db
    .selectFrom('subscribers')
    .select(['name', 'click_id'])
    .where('org_id', '=', org_id)
    .where('bot_id', '=', bot_id)
    .where('telegram_user_id', '=', telegram_user_id)
    .executeTakeFirst()
  const click_id = of_click ?? person?.click_id ?? undefined
  const first_name = person?.name ?? null
  if (click_id === undefined) return { values: { first_name } }
  const click = await db
    .selectFrom('clicks')
    .select(['campaign_id', ...SUBS])
    .where('org_id', '=', org_id)
    .where('id', '=', click_id)
    .executeTakeFirst()
  const { campaign_id = null, ...subs } = click ?? {}
  return {
    values: {
      ...subs,
      first_name,
      click_id: toWireId(click_id),
      campaign_id: campaign_id === null ? null : toWireId(campaign_id),
    },
    ...(click === undefined ? {} : { click: { id: click_id, campaign_id } }),
  }
}
