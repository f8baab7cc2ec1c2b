/**
 * Notices: mails about something that has happened to an organization's rows, each sent once. A room says which notices are due and writes their
 * claims; this file polls, mails and retries. Owns no table. What must stay true: of several processes only the one that claims a notice sends
 * it, and a notice that no mail server took is sent again once its claim has run out.
 */
import type { Kysely } from 'kysely'
import { MINUTE_MS } from '../../contract/days.ts'
import type { Role } from '../../contract/endpoint.ts'
import { databaseTimeIn } from '../db/clock.ts'
import type { Tables } from '../db/tables.ts'
import type { Ground } from '../room.ts'
import { openQuiet } from '../db/quiet.ts'
import { openRounds, type Rounds } from '../rounds.ts'
import { mailOwners } from './owners.ts'

const POLL_MS = 5000
/** Longer than a mail server may take for all recipients of a notice. */
const CLAIM_MS = 10 * MINUTE_MS

export type NoticeGround = Pick<Ground, 'db' | 'database' | 'config' | 'log'>

/** A mail to the owners of an organization, or to all members with these roles. `write` gets the organization's name. */
type Letter = {
  readonly org_id: number
  readonly write: (organization: string) => { subject: string; text: string }
  readonly roles?: readonly Role[]
}

/** A room's notices. Times are the database's, as it writes them. */
export type Notices<Notice> = {
  /** The notices that are due and not claimed. */
  readonly readDue: (ground: NoticeGround) => Promise<readonly Notice[]>
  /** Claims a notice until a time. False if it is no longer due, or another process has claimed it. */
  readonly claim: (db: Kysely<Tables>, notice: Notice, until: string) => Promise<boolean>
  /** The mail of a claimed notice. Undefined if there is nothing to write any more: the notice then counts as sent. */
  readonly letterOf: (ground: NoticeGround, notice: Notice) => Promise<Letter | undefined>
  /** Marks a notice as sent and releases its claim, if it is still claimed until that time. */
  readonly markSent: (db: Kysely<Tables>, notice: Notice, claim: { until: string; sent_at: string }) => Promise<void>
}

/** Sends the notices that are due. */
export async function sendNotices<Notice>(ground: NoticeGround, notices: Notices<Notice>): Promise<void> {
  for (const notice of await notices.readDue(ground)) await sendNotice(ground, notices, notice)
}

async function sendNotice<Notice>(ground: NoticeGround, notices: Notices<Notice>, notice: Notice): Promise<void> {
  const { db } = ground
  const until = await databaseTimeIn(db, CLAIM_MS)
  if (!(await notices.claim(db, notice, until))) return
  const letter = await notices.letterOf(ground, notice)
  const outcomes = letter === undefined ? [] : await mailOwners(ground, letter.org_id, letter.write, letter.roles)
  if (outcomes.length > 0 && outcomes.every(outcome => outcome === 'failed')) return
  await notices.markSent(db, notice, { until, sent_at: await databaseTimeIn(db, 0) })
}

/** Calls `send` every few seconds until it is closed; any number of processes may. `name` is the room's and the file's. */
export function openNotices(
  name: string,
  { log, database }: Pick<Ground, 'log' | 'database'>,
  send: () => Promise<void>,
): Rounds {
  const onError = (error: unknown) => log.warn({ err: error, notices: name }, 'could not check for notices; retrying')
  return openRounds(name, POLL_MS, send, onError, openQuiet(database.worker))
}
