/**
 * Looks every five minutes whether each bot's hook is still ours: another program's start takes it, one that polls removes it, and neither says so. What
 * was taken away is told by mail once, and taken back by itself only where the owner asks for it.
 */
import { MINUTE_MS } from '../../contract/days.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { announceChange } from '../../traffic/campaigns/live.ts'
import { botName } from '../../intake/events/intake.ts'
import { claimCheck, type Looking, momentIn } from './claims.ts'
import { addressOf, isOurs, seeHook, type Seen, UNREACHABLE } from './hooks.ts'
import { AT_ONCE } from './look-soon.ts'
import { payDebts } from './owed.ts'
import { anyBot, type BotId, formerHook, hookStateOf, ofLastHour, type Row } from './rows.ts'
import { type Failure, isAway, isReachable } from './telegram.ts'
import { claimNumber, type Known, whoseToken } from './tokens.ts'
import { nextLook, nextTry, take, written } from './write.ts'

const POLL_MS = 2000
/** Telegram may know a token again that it refused. */
const REVOKED_MS = 15 * MINUTE_MS
/** A tug of war is for people to end. */
const MOST_GUARDED = 3
const MOST_AT_ONCE = 20

const DUE = (among: Among) => `
  select b.org_id, b.id
  from bots b
  join organizations o on o.org_id = b.org_id
  where o.deleted_at is null and b.deleted_at is null and b.give_back is null
    and (b.mode = 'copy' or b.hook_set_at is not null or b.hook_check_at is not null)
    and (b.hook_check_at is null or b.hook_check_at <= now())
    and (b.send_after is null or b.send_after <= now() or b.hook_check_at = '${AT_ONCE}')${among('b.org_id')}
  limit ${MOST_AT_ONCE}`

/** Looks at the bots that are due. Answers whether there may be more. */
async function lookAtDue(ground: Looking): Promise<boolean> {
  const { rows } = await askEverywhere<BotId>(ground.database.worker, DUE)
  await Promise.all(
    rows.map(async bot => {
      if (!(await claimCheck(ground.db, bot, MINUTE_MS))) return
      const row = await anyBot(ground.db, bot)
      if (row === undefined || row.deleted_at !== null) return
      await look(ground, row).catch((error: unknown) =>
        ground.log.warn({ err: error }, 'a bot could not be looked at; it is tried again'),
      )
    }),
  )
  return rows.length === MOST_AT_ONCE
}

type Asking = Pick<Ground, 'db' | 'config' | 'secrets'>

/** Asks Telegram about a bot and writes down what was found; answers why that was nothing. */
export async function look(ground: Asking, row: Row): Promise<Failure | undefined> {
  const token = ground.secrets.open(row.token)
  const [known, seen] = await Promise.all([whoseToken(ground, token), seeHook(ground, token)])
  const now = new Date().toISOString()
  if ('ok' in known || 'ok' in seen) {
    const failures = [known, seen].filter(one => 'ok' in one)
    if (failures.some(({ kind }) => kind === 'token')) {
      await noteRevoked(ground, row, now)
      return undefined
    }
    const retry_after = Math.max(...failures.map(failure => failure.retry_after ?? 0))
    await written(ground, row, { hook_check_at: await nextTry(ground.db, { retry_after }) })
    return failures[0]
  }
  const { pending: pending_updates, last_error } = seen
  const looked = {
    ...(await identity(ground, row, known)),
    token_state: 'ok' as const,
    hook_checked_at: now,
    hook_check_at: await nextLook(ground.db),
    pending_updates,
    last_error: last_error === null ? null : JSON.stringify(last_error),
  }
  await judge(ground, row, seen, looked)
  return undefined
}

/** Of the token that was asked with: a new one that came meanwhile is not at fault. */
async function noteRevoked({ db }: Asking, row: Row, at: string): Promise<void> {
  const isNews = row.token_state === 'ok'
  await db
    .updateTable('bots')
    .set({
      token_state: 'revoked',
      hook_checked_at: at,
      hook_check_at: await momentIn(db, REVOKED_MS),
      ...(isNews ? { notice: 'revoked', mailed_at: null, claimed_until: null } : {}),
    })
    .where('org_id', '=', row.org_id)
    .where('id', '=', row.id)
    .where('token', '=', row.token)
    .execute()
}

/** What the bot is called by now; its number, where it was not known yet and is nobody else's. */
async function identity(ground: Asking, row: Row, { telegram_id, username, name }: Known) {
  const isOwn =
    row.telegram_id === telegram_id || (row.telegram_id === null && (await claimNumber(ground.db, telegram_id, row)))
  if (!isOwn) return {}
  if (username !== row.username) await announceChange(ground.db, row.org_id, row.id)
  return { telegram_id, name, username, username_key: botName(username) }
}

type Looked = { readonly hook_checked_at: string } & Parameters<typeof written>[2]

/** Whose the hook is, and what is done about it. */
async function judge(ground: Asking, row: Row, { url }: Seen, looked: Looked): Promise<void> {
  const { config } = ground
  if (row.mode === 'copy') {
    await written(ground, row, { ...looked, hook_state: 'copy', hook_host: null })
    return
  }
  const state = hookStateOf(row)
  if (isOurs(url, row.id)) {
    // Under an address that Sluice had before, Telegram would go on calling that; where the last try failed, with what it was set with before.
    const isStale = isReachable(config.baseUrl) && (url !== addressOf(config.baseUrl, row.id) || state === 'not_set')
    if (isStale) await take(ground, row, looked)
    else
      await written(ground, row, {
        ...looked,
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
  // What was never ours has not been taken away from us.
  if (row.hook_set_at === null) {
    await firstTake(ground, row, url, looked)
    return
  }
  const isNews = state !== found || row.notice === null
  const news = { notice: found, mailed_at: null, claimed_until: null }
  const lately = ofLastHour(row.guarded_at)
  // Found before without owners being told: then it was to be taken back, and Telegram did not answer.
  const isToBeGuarded = state === 'set' || (state === found && row.notice === null)
  if (row.guard_hook && isToBeGuarded && lately.length < MOST_GUARDED && isReachable(config.baseUrl)) {
    const guarded_at = JSON.stringify([...lately, looked.hook_checked_at])
    await take(ground, row, { ...looked, guarded_at }, fault => ({
      hook_state: found,
      hook_host,
      guarded_at: JSON.stringify(lately),
      ...(isAway(fault) ? {} : news),
    }))
    return
  }
  await written(ground, row, {
    ...looked,
    hook_state: found,
    hook_host,
    hook_error: wordsOf(row, found, hook_host),
    ...(isNews ? news : {}),
  })
}

/** Sets a hook that could not be set when the bot was added; another program's only where it was given up for us. */
async function firstTake(ground: Asking, row: Row, url: string, looked: Looked): Promise<void> {
  const { baseUrl } = ground.config
  const isFree = url === '' || url === formerHook(ground.secrets, row)?.url
  // A number that is not this bot's is that of a bot elsewhere.
  const isOwn = (looked.telegram_id ?? row.telegram_id) !== null
  if (isFree && isOwn && isReachable(baseUrl)) {
    await take(ground, row, looked)
    return
  }
  const hook_host = URL.parse(url)?.host ?? null
  const hook_error = !isReachable(baseUrl)
    ? UNREACHABLE
    : isFree
      ? 'Another workspace has this bot.'
      : `${hook_host ?? 'Another program'} has the hook of this bot. Choose mode relay or copy, or take it over.`
  await written(ground, row, { ...looked, hook_state: 'not_set', hook_host, hook_error })
}

/** What has happened, and what helps. */
function wordsOf({ mode }: Row, found: 'stolen' | 'removed', host: string | null): string {
  if (found === 'removed')
    return 'Somebody has removed the hook: a program that polls does so at its start. Such a program has to keep its bot and send copies (mode copy).'
  const own =
    mode === 'relay'
      ? 'Have your program not set its hook at its start, or choose mode copy.'
      : 'Pass updates on to it (mode relay), or have it send copies (mode copy).'
  return `${host ?? 'Another program'} has set the hook to itself. ${own}`
}

/** Looks every few seconds at what is due, until it is closed; any number of processes may. */
export function openBotWatch(ground: Looking): Rounds {
  return openRounds(
    'bots/watch',
    POLL_MS,
    async signal => {
      await payDebts(ground)
      while (!signal.aborted && (await lookAtDue(ground)));
    },
    error => ground.log.warn({ err: error }, 'bots could not be looked at; it is tried again'),
  )
}
