/**
 * The certificates in service, in memory, for handshakes. NOTIFY brings changes at once; the poll every few seconds is authoritative. While the
 * database is away, the certificates in memory are still served. A handshake only looks here, so a visitor cannot trigger an order. Owns no table;
 * reads certificates.
 */
import { createSecureContext, type SecureContext } from 'node:tls'
import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { listen } from '../../ground/db/listen.ts'
import type { Ground } from '../../ground/room.ts'
import { inTurn } from '../../ground/in-turn.ts'
import { openRounds } from '../../ground/rounds.ts'
import { CHANNEL } from './certificates.ts'
import { type CountedCertificate, countCertificates } from './figures.ts'
import { type CertificateFiles, CONTEXT_ID } from './files.ts'
import { certifiableMainNames } from './names.ts'

const POLL_MS = 5000
/** A context takes 46 KiB. One that was evicted is created again at the next handshake, in 0.3 ms. */
const MOST_CONTEXTS = 1000

type CertificateRow = {
  name: string
  serial: string | null
  not_before: string | null
  not_after: string | null
  attempts: number
}
type ServedCertificate = { readonly serial: string; readonly chain: string; readonly key: Buffer }

export type LiveCertificates = {
  /** The TLS context of a name; undefined if there is no certificate for it. */
  contextOf(name: string): SecureContext | undefined
  /** Whether there is a certificate for a name. */
  serves(name: string): boolean
  close(): Promise<void>
}

/** Loads the certificates and keeps them fresh until it is closed. The certificate of `files` takes precedence. */
export async function openLiveCertificates(
  ground: Pick<Ground, 'config' | 'database' | 'db' | 'log' | 'secrets'>,
  files: CertificateFiles | undefined,
): Promise<LiveCertificates> {
  const { database, log } = ground
  const memory = openMemory(ground)
  const refresh = inTurn(() => memory.read())
  const refreshed = () => void refresh().catch(() => {})
  const listening = await listen(database, CHANNEL, { onNotify: refreshed, onReconnect: refreshed })
  await refresh()
  const rounds = openRounds('certificates/live', POLL_MS, refresh, error =>
    log.debug({ err: error }, 'could not read certificates; still serving those in memory'),
  )
  const stopCounting = countCertificates(() => [...memory.counted(), ...(files === undefined ? [] : [files.counted()])])
  return {
    contextOf: name => files?.contextOf(name) ?? memory.contextOf(name),
    serves: name => files?.covers(name) === true || memory.serves(name),
    async close() {
      stopCounting()
      await listening.close()
      await rounds.close()
      await refresh.idle()
    },
  }
}

function openMemory({ config, db, log, secrets }: Pick<Ground, 'config' | 'db' | 'log' | 'secrets'>) {
  const main = certifiableMainNames(config)
  const served = new Map<string, ServedCertificate>()
  const contexts = new LRUCache<string, SecureContext>({ max: MOST_CONTEXTS })
  let counted: CountedCertificate[] = []
  const forget = (name: string) => {
    served.delete(name)
    contexts.delete(name)
  }
  return {
    counted: () => counted,
    serves: (name: string) => served.has(name),
    async read() {
      const { rows } = await sql<CertificateRow>`
        select name, serial, not_before, not_after, attempts from certificates where gone_at is null`.execute(db)
      const changed = rows.filter(({ name, serial }) => serial !== null && served.get(name)?.serial !== serial)
      for (const { name, ...fresh } of await readServed(db, changed)) {
        forget(name)
        served.set(name, fresh)
      }
      const names = new Set(rows.map(({ name }) => name))
      for (const name of served.keys()) if (!names.has(name)) forget(name)
      counted = rows.map(({ name, not_before, not_after, attempts }) => ({
        not_before: Date.parse(not_before ?? ''),
        not_after: Date.parse(not_after ?? ''),
        is_main: main.includes(name),
        has_failed: attempts > 0,
      }))
    },
    contextOf(name: string): SecureContext | undefined {
      const certificate = served.get(name)
      if (certificate === undefined) return undefined
      const cached = contexts.get(name)
      if (cached !== undefined) return cached
      try {
        const { chain: cert, key } = certificate
        const context = createSecureContext({ cert, key: secrets.open(key), sessionIdContext: CONTEXT_ID })
        contexts.set(name, context)
        return context
      } catch (error) {
        log.error({ err: error, name }, 'a certificate cannot be served')
        return undefined
      }
    },
  }
}

async function readServed(
  db: Ground['db'],
  rows: readonly CertificateRow[],
): Promise<(ServedCertificate & { name: string })[]> {
  if (rows.length === 0) return []
  const names = rows.map(({ name }) => name)
  const { rows: served } = await sql<ServedCertificate & { name: string }>`
    select name, serial, chain, key from certificates
    where name = any(${names}) and gone_at is null and chain is not null`.execute(db)
  return served
}
