/** Runs due tasks: a few of each bot at a time, at the bot's speed, and none during Telegram's rate limits. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { newId } from '../../contract/ids.ts'
import { databaseTimeIn } from '../../ground/db/clock.ts'
import { type Among, askEverywhere } from '../../ground/db/everywhere.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { type NextDue, openQuiet } from '../../ground/db/quiet.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds } from '../../ground/rounds.ts'
import { checkBotSoon } from '../bots/check-soon.ts'
import { silenceBot } from '../bots/silence.ts'
import { type TaskRunners, onWake, type TaskOutcome, type Task, type TaskBot } from './tasks.ts'

type TaskGround = Pick<Ground, 'db' | 'database' | 'secrets' | 'log'>

const POLL_MS = 1000
/** Enough for two calls of ten seconds and for recording the result. */
const LEASE_S = 30
/** Parallel tasks of one bot: more would only reach Telegram's rate limit sooner. */
const AT_ONCE = 3
const MOST_BOTS = 100

const DUE = (among: Among) => `
  select t.org_id, t.bot_id
  from bot_tasks t
  join bots b on b.org_id = t.org_id and b.id = t.bot_id
  join organizations o on o.org_id = t.org_id
  where t.state = 'waiting' and t.due_at <= now() and t.kind = any($1)
    and (t.lease_until is null or t.lease_until <= now()) and o.deleted_at is null
    and (t.give_up_at <= now() or b.deleted_at is not null
      or b.token_state = 'ok' and (b.send_after is null or b.send_after <= now()))${among('t.org_id')}${among('b.org_id')}
  group by t.org_id, t.bot_id
  limit ${MOST_BOTS}`

const NEXT_DUE: NextDue = among => `
  select min(due_at) as at from bot_tasks where state = 'waiting' and due_at > now()${among('org_id')}
  union all
  select min(lease_until) from bot_tasks where state = 'waiting' and lease_until > now()${among('org_id')}
  union all
  select min(give_up_at) from bot_tasks where state = 'waiting' and give_up_at > now()${among('org_id')}
  union all
  select min(send_after) from bots where send_after > now()${among('org_id')}`

type DueBot = { readonly org_id: number; readonly bot_id: string }

/** Runs tasks until it is closed. Any number of processes may run it. A task inserted by this process runs at once, another process's within a second. */
export function openTasks(ground: TaskGround, runners: TaskRunners, { poll_ms = POLL_MS } = {}) {
  const { db, database, log } = ground
  const kinds = Object.keys(runners)
  const lanes = new Map<string, Promise<void>>()

  const work = async (due: DueBot, signal: AbortSignal) => {
    try {
      if (await runDueTasks(ground, runners, due, signal)) rounds.wake()
    } catch (error) {
      log.warn({ err: error }, 'could not run the tasks of a bot; retrying')
    } finally {
      lanes.delete(due.bot_id)
    }
  }
  const rounds = openRounds(
    'tasks/worker',
    poll_ms,
    async signal => {
      const { rows } = await askEverywhere<DueBot>(database.worker, DUE, [kinds])
      for (const due of rows) if (!lanes.has(due.bot_id)) lanes.set(due.bot_id, work(due, signal))
    },
    error => log.warn({ err: error }, 'could not look for due tasks; retrying'),
    openQuiet(database.worker, NEXT_DUE),
  )
  const forget = onWake(db, () => rounds.wake())
  return {
    /** Waits for running tasks and starts no more. */
    async close() {
      forget()
      await rounds.close()
      await Promise.all(lanes.values())
    },
  }
}

/** Runs the due tasks of one bot; returns whether there were any. */
async function runDueTasks(
  ground: TaskGround,
  runners: TaskRunners,
  { org_id, bot_id }: DueBot,
  signal: AbortSignal,
): Promise<boolean> {
  let hasWorked = false
  while (!signal.aborted) {
    const bot = await sendingBot(ground, org_id, bot_id)
    const ended = await endOverdue(ground.db, org_id, bot_id, bot === undefined)
    hasWorked ||= ended
    if (bot === undefined || !bot.mayCall) return hasWorked
    const tasks = await claim(ground.db, { org_id, bot_id }, Object.keys(runners))
    if (tasks.length === 0) return hasWorked
    hasWorked = true
    const full_ms = (tasks.length * 1000) / bot.send_per_second
    const [begun] = [performance.now(), await runTasks(ground, runners, bot, tasks)]
    // Keeps to the bot's messages per second.
    await sleep(Math.max(0, full_ms - (performance.now() - begun)), undefined, { signal }).catch(() => {})
  }
  return hasWorked
}

type SendingBot = TaskBot & { readonly mayCall: boolean; readonly send_per_second: number }

/** The bot; undefined if it was deleted. */
async function sendingBot({ db, secrets }: TaskGround, org_id: number, id: string): Promise<SendingBot | undefined> {
  const row = await db
    .selectFrom('bots')
    .select(['token', 'token_state', 'send_per_second'])
    .select(sql<boolean>`coalesce(send_after > now(), false)`.as('is_silent'))
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { token, token_state, is_silent, send_per_second } = row
  const mayCall = token_state === 'ok' && !is_silent
  return { org_id, id, token: secrets.open(token), mayCall, send_per_second: Number(send_per_second) }
}

/** Ends overdue tasks, or all tasks of a deleted bot. */
async function endOverdue(db: Kysely<Tables>, org_id: number, bot_id: string, isGone: boolean): Promise<boolean> {
  const { numAffectedRows } = isGone
    ? await sql`
        update bot_tasks set state = 'gone', reason = 'the bot was deleted', ended_at = now()
        where org_id = ${org_id} and bot_id = ${bot_id} and state = 'waiting'
          and (lease_until is null or lease_until <= now())`.execute(db)
    : await sql`
        update bot_tasks set state = 'failed', reason = 'it was too late', ended_at = now()
        where org_id = ${org_id} and bot_id = ${bot_id} and state = 'waiting' and give_up_at <= now()
          and (lease_until is null or lease_until <= now())`.execute(db)
  return (numAffectedRows ?? 0n) > 0n
}

type Claimed = Task & { readonly lease_token: string }

/** Leases the next tasks in the order they are due. A token of an expired lease means that a process died with the task: `is_cut`. */
async function claim(db: Kysely<Tables>, { org_id, bot_id }: DueBot, kinds: string[]): Promise<Claimed[]> {
  const { rows } = await sql<Claimed>`
    with due as (
      select id, lease_token is not null as is_cut from bot_tasks
      where org_id = ${org_id} and bot_id = ${bot_id} and state = 'waiting' and due_at <= now() and kind = any(${kinds})
        and (lease_until is null or lease_until <= now())
      order by due_at, id limit ${sql.lit(AT_ONCE)} for update skip locked
    )
    update bot_tasks t
    set lease_token = ${newId()}, lease_until = now() + interval '${sql.raw(String(LEASE_S))} seconds', tries = t.tries + 1
    from due
    where t.org_id = ${org_id} and t.id = due.id
    returning t.*, due.is_cut`.execute(db)
  return rows.toSorted((a, b) => (a.due_at < b.due_at || (a.due_at === b.due_at && a.id < b.id) ? -1 : 1))
}

/** Starts tasks one after another at the bot's speed; after a rate limit it starts no more. */
async function runTasks(
  ground: TaskGround,
  runners: TaskRunners,
  bot: SendingBot,
  tasks: readonly Claimed[],
): Promise<void> {
  let silence_s: number | undefined
  const runTask = async (task: Claimed, place: number) => {
    await sleep((place * 1000) / bot.send_per_second)
    const outcome = silence_s === undefined ? await outcomeOf(ground, runners, task, bot) : retryAfter(silence_s)
    const isFirst = outcome.is === 'again' && outcome.isSilence === true && silence_s === undefined
    if (isFirst) silence_s = outcome.after_s
    await recordWithRetries(ground.db, task, outcome)
    if (!isFirst) return
    await silenceBot(ground.db, bot, await databaseTimeIn(ground.db, outcome.after_s * 1000))
    if (outcome.isRevoked === true) await checkBotSoon(ground.db, bot)
  }
  const ends = await Promise.allSettled(tasks.map(runTask))
  for (const end of ends)
    if (end.status === 'rejected')
      ground.log.warn({ err: end.reason, bot: bot.id }, 'a task of a bot failed; retrying when its lease ends')
}

const retryAfter = (after_s: number): TaskOutcome => ({ is: 'again', after_s })

/** The retry pause after an error of our own, such as a database failure. */
const FAULT_S = 5

/** Runs one try. An error before `leaves` means that nothing was sent, so the task is retried. */
async function outcomeOf(ground: TaskGround, runners: TaskRunners, task: Claimed, bot: TaskBot): Promise<TaskOutcome> {
  const doing = runners[task.kind]
  if (doing === undefined) throw new Error(`no runner for ${task.kind}`)
  let hasLeft = false
  try {
    return await doing(task, bot, () => {
      hasLeft = true
    })
  } catch (error) {
    if (hasLeft) throw error
    ground.log.warn({ err: error, bot: bot.id }, 'could not run a task of a bot; retrying')
    return retryAfter(FAULT_S)
  }
}

const NOTE_AGAIN_MS = 1000

/** Records the outcome, with retries as long as the lease lasts: otherwise the task would run again. */
async function recordWithRetries(db: Kysely<Tables>, task: Claimed, outcome: TaskOutcome): Promise<void> {
  for (const until = performance.now() + LEASE_S * 1000; ; ) {
    try {
      return await recordOutcome(db, task, outcome)
    } catch (error) {
      if (performance.now() > until) throw error
      await sleep(NOTE_AGAIN_MS)
    }
  }
}

/** Records the outcome, unless another process has leased the task by now. */
async function recordOutcome(
  db: Kysely<Tables>,
  { org_id, id, lease_token, give_up_at }: Claimed,
  outcome: TaskOutcome,
) {
  const due_at = outcome.is === 'again' ? await databaseTimeIn(db, outcome.after_s * 1000) : undefined
  const isLate = due_at !== undefined && Date.parse(due_at) >= Date.parse(give_up_at)
  const leased = db
    .updateTable('bot_tasks')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('lease_token', '=', lease_token)
    .where('state', '=', 'waiting')
  if (due_at !== undefined && !isLate) {
    await leased.set({ due_at, lease_token: null, lease_until: null }).execute()
    return
  }
  await leased
    .set({
      state: outcome.is === 'again' ? 'failed' : outcome.is,
      reason: outcome.is === 'again' ? 'it was too late' : 'reason' in outcome ? outcome.reason.slice(0, 500) : null,
      ended_at: sql<string>`now()`,
      lease_token: null,
      lease_until: null,
    })
    .execute()
}
