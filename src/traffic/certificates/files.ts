/**
 * The certificate of TLS_CERT and TLS_KEY, such as a wildcard or one of a company's own authority, which another program renews. The files are read
 * every few seconds, because that program does not announce a renewal. Files that do not match are ignored until they do.
 */
import { readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { Ground } from '../../ground/room.ts'
import { openRounds } from '../../ground/rounds.ts'
import { StartError } from '../../ground/start-error.ts'
import { type Leaf, requireMatchingKey, WrongChain } from './chain.ts'
import type { CountedCertificate } from './figures.ts'
import { certifiableMainNames } from './names.ts'

/** Must be equal in all processes and for all names, so that a TLS session can be resumed with any of them. */
export const CONTEXT_ID = 'sluice'

const POLL_MS = 5000

export type CertificateFiles = {
  covers(name: string): boolean
  contextOf(name: string): SecureContext | undefined
  counted(): CountedCertificate
  /** Reads the files again, if they have changed. */
  refresh(): Promise<void>
  close(): Promise<void>
}

type Loaded = { readonly cert: string; readonly key: string; readonly leaf: Leaf; readonly context: SecureContext }

/** Undefined if no files are set. @throws StartError if the files cannot be served */
export async function openCertificateFiles({
  config,
  log,
}: Pick<Ground, 'config' | 'log'>): Promise<CertificateFiles | undefined> {
  const { tls, tlsCert, tlsKey } = config
  if (tls === 'off' || tlsCert === undefined || tlsKey === undefined) return undefined
  const read = async () => ({ cert: await readFile(tlsCert, 'utf8'), key: await readFile(tlsKey, 'utf8') })
  let loaded = await read()
    .then(load)
    .catch((error: unknown) => {
      throw new StartError(`TLS_CERT and TLS_KEY cannot be served: ${(error as Error).message}`)
    })
  let failed: string | undefined
  const refresh = async () => {
    const found = await read()
    if (found.cert === loaded.cert && found.key === loaded.key) {
      failed = undefined
      return
    }
    loaded = load(found)
    failed = undefined
    log.info({ serial: loaded.leaf.serial }, 'the certificate of TLS_CERT was read again')
  }
  const rounds = openRounds('certificates/files', POLL_MS, refresh, error => {
    const why = (error as Error).message
    // Logged once per fault: a renewal writes one file after the other.
    if (why !== failed)
      log.warn({ problem: why }, 'TLS_CERT and TLS_KEY have changed and cannot be served; keeping the previous ones')
    failed = why
  })
  const covers = (name: string) => loaded.leaf.certificate.checkHost(name) !== undefined
  return {
    covers,
    contextOf: name => (covers(name) ? loaded.context : undefined),
    counted: () => ({ ...loaded.leaf, is_main: certifiableMainNames(config).some(covers), has_failed: false }),
    refresh,
    close: () => rounds.close(),
  }
}

function load({ cert, key }: Pick<Loaded, 'cert' | 'key'>): Loaded {
  const leaf = requireMatchingKey(cert, key)
  try {
    return { cert, key, leaf, context: createSecureContext({ cert, key, sessionIdContext: CONTEXT_ID }) }
  } catch (error) {
    throw new WrongChain((error as Error).message)
  }
}
