/**
 * Checks every five minutes that each bot's webhook is still ours: another program can take it and a polling program removes it, and Telegram does not
 * report either. Owners get one mail about a loss. The webhook is taken back automatically only if `guard_hook` is set.
 */
import { MINUTE_MS } from '../../contract/days.ts'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import { type NextDue, openQuiet } from '../../ground/db/quiet.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import { botName } from '../../intake/events/intake.ts'
import { claimCheck, type CheckGround } from './claims.ts'
import { hookUrl, isOurHook, readHook, type HookInfo, UNREACHABLE } from './hooks.ts'
import { CHECK_NOW } from './check-soon.ts'
import { restoreOwedHooks } from './owed.ts'
import { anyBot, type BotId, formerHook, hookStateOf, withinLastHour, type StoredBot } from './rows.ts'
import { type Failure, isAway, isReachable } from './telegram.ts'
import { claimNumber, type TelegramBot, identifyToken } from './tokens.ts'
import { nextCheckTime, nextRetryTime, takeHook, updateBotRow } from './write.ts'

const POLL_MS = 2000
/** Telegram may accept a rejected token again later. */
const REVOKED_MS = 15 * MINUTE_MS
/** Per hour. If another program keeps taking the webhook, people have to decide. */
const MOST_GUARDED = 3
const MOST_AT_ONCE = 20

const DUE = (among: Among) => `
  select b.org_id, b.id
  from bots b
  join organizations o on o.org_id = b.org_id
  where o.deleted_at is null and b.deleted_at is null and b.give_back is null
    and (b.mode = 'copy' or b.hook_set_at is not null or b.hook_check_at is not null)
    and (b.hook_check_at is null or b.hook_check_at <= now())
    and (b.send_after is null or b.send_after <= now() or b.hook_check_at = '${CHECK_NOW}')${among('b.org_id')}
  limit ${MOST_AT_ONCE}`

const NEXT_DUE: NextDue = among => `
  select min(hook_check_at) as at from bots where hook_check_at > now()${among('org_id')}
  union all
  select min(send_after) from bots where send_after > now()${among('org_id')}`

/** Checks the bots that are due; returns whether there may be more. */
async function checkDueBots(ground: CheckGround): Promise<boolean> {
  const { rows } = await askEverywhere<BotId>(ground.database.worker, DUE)
  await Promise.all(
    rows.map(async bot => {
      if (!(await claimCheck(ground.db, bot, MINUTE_MS))) return
      const row = await anyBot(ground.db, bot)
      if (row === undefined || row.deleted_at !== null) return
      await checkHook(ground, row).catch((error: unknown) =>
        ground.log.warn({ err: error }, 'could not check a bot; retrying'),
      )
    }),
  )
  return rows.length === MOST_AT_ONCE
}

type HookGround = Pick<Ground, 'db' | 'config' | 'secrets'>

/** Asks Telegram about a bot and stores what it finds; returns the failure if Telegram did not answer. */
export async function checkHook(ground: HookGround, row: StoredBot): Promise<Failure | undefined> {
  const token = ground.secrets.open(row.token)
  const [known, seen] = await Promise.all([identifyToken(ground, token), readHook(ground, token)])
  const now = new Date().toISOString()
  if ('ok' in known || 'ok' in seen) {
    const failures = [known, seen].filter(one => 'ok' in one)
    if (failures.some(({ kind }) => kind === 'token')) {
      await noteRevoked(ground, row, now)
      return undefined
    }
    const retry_after = Math.max(...failures.map(failure => failure.retry_after ?? 0))
    await updateBotRow(ground, row, { hook_check_at: await nextRetryTime(ground.db, { retry_after }) })
    return failures[0]
  }
  const { pending: pending_updates, last_error } = seen
  const findings = {
    ...(await identity(ground, row, known)),
    token_state: 'ok' as const,
    hook_checked_at: now,
    hook_check_at: await nextCheckTime(ground.db),
    pending_updates,
    last_error: last_error === null ? null : JSON.stringify(last_error),
  }
  await recordHookState(ground, row, seen, findings)
  return undefined
}

/** Marks the token as revoked, unless a new token was entered during the check. */
async function noteRevoked({ db }: HookGround, row: StoredBot, at: string): Promise<void> {
  const isNews = row.token_state === 'ok'
  await db
    .updateTable('bots')
    .set({
      token_state: 'revoked',
      hook_checked_at: at,
      hook_check_at: await databaseTimeIn(db, REVOKED_MS),
      ...(isNews ? { notice: 'revoked', mailed_at: null, claimed_until: null } : {}),
    })
    .where('org_id', '=', row.org_id)
    .where('id', '=', row.id)
    .where('token', '=', row.token)
    .execute()
}

/** The bot's current names, and its number if it was unknown and no other bot has it. */
async function identity(ground: HookGround, row: StoredBot, { telegram_id, username, name }: TelegramBot) {
  const isOwn =
    row.telegram_id === telegram_id || (row.telegram_id === null && (await claimNumber(ground.db, telegram_id, row)))
  if (!isOwn) return {}
  if (username !== row.username) await announceChange(ground.db, row.org_id, row.id)
  return { telegram_id, name, username, username_key: botName(username) }
}

type CheckFindings = { readonly hook_checked_at: string } & Parameters<typeof updateBotRow>[2]

/** Stores the webhook's state, and takes the webhook if that is due. */
async function recordHookState(
  ground: HookGround,
  row: StoredBot,
  { url }: HookInfo,
  findings: CheckFindings,
): Promise<void> {
  const { config } = ground
  if (row.mode === 'copy') {
    await updateBotRow(ground, row, { ...findings, hook_state: 'copy', hook_host: null })
    return
  }
  const state = hookStateOf(row)
  if (isOurHook(url, row.id)) {
    // Set it again if it still has a former BASE_URL, or if the last attempt to change its settings failed.
    const isStale = isReachable(config.baseUrl) && (url !== hookUrl(config.baseUrl, row.id) || state === 'not_set')
    if (isStale) await takeHook(ground, row, findings)
    else
      await updateBotRow(ground, row, {
        ...findings,
        hook_state: 'set',
        hook_error: null,
        hook_host: null,
        notice: null,
        mailed_at: null,
      })
    return
  }
  const found = url === '' ? ('removed' as const) : ('stolen' as const)
  const hook_host = url === '' ? null : (URL.parse(url)?.host ?? null)
  // A webhook that was never ours cannot have been stolen.
  if (row.hook_set_at === null) {
    await takeFreeHook(ground, row, url, findings)
    return
  }
  const isNew = state !== found || row.notice === null
  const news = { notice: found, mailed_at: null, claimed_until: null }
  const lately = withinLastHour(row.guarded_at)
  // A loss without a notice: Telegram did not answer the last attempt to take the webhook back, so it is tried again.
  const isToBeGuarded = state === 'set' || (state === found && row.notice === null)
  if (row.guard_hook && isToBeGuarded && lately.length < MOST_GUARDED && isReachable(config.baseUrl)) {
    const guarded_at = JSON.stringify([...lately, findings.hook_checked_at])
    await takeHook(ground, row, { ...findings, guarded_at }, fault => ({
      hook_state: found,
      hook_host,
      guarded_at: JSON.stringify(lately),
      ...(isAway(fault) ? {} : news),
    }))
    return
  }
  await updateBotRow(ground, row, {
    ...findings,
    hook_state: found,
    hook_host,
    hook_error: lossInWords(row, found, hook_host),
    ...(isNew ? news : {}),
  })
}

/** Sets a webhook that could not be set when the bot was added. Another program's webhook is replaced only if the owner had agreed. */
async function takeFreeHook(ground: HookGround, row: StoredBot, url: string, findings: CheckFindings): Promise<void> {
  const { baseUrl } = ground.config
  const isFree = url === '' || url === formerHook(ground.secrets, row)?.url
  // If the bot has no Telegram id here, another organization has it.
  const isOwn = (findings.telegram_id ?? row.telegram_id) !== null
  if (isFree && isOwn && isReachable(baseUrl)) {
    await takeHook(ground, row, findings)
    return
  }
  const hook_host = URL.parse(url)?.host ?? null
  const hook_error = !isReachable(baseUrl)
    ? UNREACHABLE
    : isFree
      ? 'Another workspace has this bot.'
      : `${hook_host ?? 'Another program'} has the webhook of this bot. Choose mode relay or copy, or take it over.`
  await updateBotRow(ground, row, { ...findings, hook_state: 'not_set', hook_host, hook_error })
}

/** What happened to the webhook, and what helps. */
function lossInWords({ mode }: StoredBot, found: 'stolen' | 'removed', host: string | null): string {
  if (found === 'removed')
    return 'The webhook was removed. A program that polls does this when it starts: use mode copy with such a program.'
  const own =
    mode === 'relay'
      ? 'Stop your program from setting its webhook when it starts, or choose mode copy.'
      : 'Forward updates to it (mode relay), or let it send copies (mode copy).'
  return `${host ?? 'Another program'} has taken the webhook. ${own}`
}

/** Checks due bots every few seconds until it is closed. Any number of processes may run it. */
export function openBotWatch(ground: CheckGround): Rounds {
  return openRounds(
    'bots/watch',
    POLL_MS,
    async signal => {
      await restoreOwedHooks(ground)
      while (!signal.aborted && (await checkDueBots(ground)));
    },
    error => ground.log.warn({ err: error }, 'could not check bots; retrying'),
    openQuiet(ground.database.worker, NEXT_DUE),
  )
}
