// One Sluice per data folder: if two shared an embedded server, the first to stop would stop the other's database.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

/** A lock on the server, held while its connection lives. The system closes that when the process ends, however it ends. */
export type Claim = { lost: Promise<void>; drop(): void }

/** Any number that nothing else locks in this server. */
const LOCK = 7_583_001
/** The time for the server to notice that a killed holder's connection has ended. */
const PATIENCE_MS = 3000

/** Claims the server. Undefined if another process holds the claim. Rejects if the server goes away. */
export async function claim(connection: pg.ClientConfig): Promise<Claim | undefined> {
  const client = new pg.Client({ ...connection, application_name: 'sluice claim', connectionTimeoutMillis: 2000 })
  const lost = new Promise<void>(resolve => client.once('end', resolve))
  client.on('error', () => {})
  await client.connect()
  const drop = () => void client.end().catch(() => {})
  for (let waited = 0; waited <= PATIENCE_MS; waited += 50) {
    const { rows } = await client.query<{ got: boolean }>('select pg_try_advisory_lock($1) as got', [LOCK])
    if (rows[0]?.got) return { lost, drop }
    await sleep(50)
  }
  drop()
  return undefined
}
