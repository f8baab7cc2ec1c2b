/**
 * What TLS sessions are sealed by. Owns `tls_ticket_keys`: a random key for each UTC day of the database's clock, which all processes share, so that
 * a session resumes at any of them and after a restart. It derives from nothing and is deleted when its day is over: who gets SECRET or a copy of
 * the database later reads no recorded traffic by it. Node takes one key, so who resumes a session of the day before makes a full handshake.
 */
import { randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Tables } from '../ground/db/tables.ts'
import type { Ground } from '../ground/room.ts'
import { openRounds, type Rounds } from '../ground/rounds.ts'

/** As Node has it: 16 bytes of name, 16 for the HMAC, 16 for AES. */
const KEY_BYTES = 48
/** A key is exchanged at most so long after its day. */
const LOOK_MS = 60_000

type Ticketing = Pick<Ground, 'db' | 'log' | 'secrets'>
type TicketKey = { readonly day: string; readonly key: Buffer }

/** The key of today, made where there is none. Keys of other days are deleted. */
export async function keyOfToday({ db, secrets }: Pick<Ticketing, 'db' | 'secrets'>): Promise<TicketKey> {
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

/** Hands on the key of each new day until it is closed. While the database is away the last one stays. */
export function exchangeDaily(ground: Ticketing, first: TicketKey, exchange: (key: Buffer) => void): Rounds {
  let { key } = first
  return openRounds(
    'gate/ticket-keys',
    LOOK_MS,
    async () => {
      const today = await keyOfToday(ground)
      // Also within a day: where clocks differ at midnight, another process may have made the key anew.
      if (today.key.equals(key)) return
      exchange(today.key)
      key = today.key
    },
    error => ground.log.debug({ err: error }, 'could not look for the key of TLS sessions; keeping the last one'),
  )
}
