/**
 * The keys that encrypt TLS session tickets. Owns `tls_ticket_keys`: one random key for each UTC day of the database's clock. All processes
 * share it, so a session resumes at any of them and after a restart. The key is derived from nothing and deleted after its day, so that SECRET
 * or a later copy of the database does not decrypt recorded traffic. Node accepts only one key, so a session of the day before makes a full
 * handshake.
 */
import { randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { MINUTE_MS } from '../contract/days.ts'
import type { Tables } from '../ground/db/tables.ts'
import type { Ground } from '../ground/room.ts'
import { openRounds, type Rounds } from '../ground/rounds.ts'

/** Node's format: 16 bytes of name, 16 for the HMAC, 16 for AES. */
const KEY_BYTES = 48
/** The longest time for which a key is used after its day. */
const POLL_MS = MINUTE_MS

type TicketGround = Pick<Ground, 'db' | 'log' | 'secrets'>
type TicketKey = { readonly day: string; readonly key: Buffer }

/** Today's key. If there is none, it is created and the keys of other days are deleted. */
export async function keyOfToday({ db, secrets }: Pick<TicketGround, 'db' | 'secrets'>): Promise<TicketKey> {
  const found = await findKey(db)
  if (found !== undefined) return { day: found.day, key: Buffer.from(secrets.open(found.key), 'base64') }
  const sealed = secrets.seal(randomBytes(KEY_BYTES).toString('base64'))
  await sql`delete from tls_ticket_keys where day <> current_date`.execute(db)
  await sql`insert into tls_ticket_keys (day, key) values (current_date, ${sealed}) on conflict do nothing`.execute(db)
  return keyOfToday({ db, secrets })
}

async function findKey(db: Kysely<Tables>): Promise<TicketKey | undefined> {
  const { rows } = await sql<TicketKey>`select day, key from tls_ticket_keys where day = current_date`.execute(db)
  return rows[0]
}

/** A periodic job that passes each new day's key to `setKey`. While the database is down the last key stays in use. */
export function changeKeyDaily(ground: TicketGround, first: TicketKey, setKey: (key: Buffer) => void): Rounds {
  let { key } = first
  return openRounds(
    'gate/ticket-keys',
    POLL_MS,
    async () => {
      const today = await keyOfToday(ground)
      // The key is compared, not the day: around midnight another process may have replaced the key of the same day.
      if (today.key.equals(key)) return
      setKey(today.key)
      key = today.key
    },
    error => ground.log.debug({ err: error }, 'could not read the key of TLS session tickets; keeping the last one'),
  )
}
