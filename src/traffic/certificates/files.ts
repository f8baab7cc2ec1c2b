/**
 * The certificate of TLS_CERT and TLS_KEY: one of a company's own authority, a wildcard, whatever somebody else renews. The files are read
 * again every few seconds, because programs that renew them tell nobody; what does not fit together is left until it does.
 */
import { readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { Ground } from '../../ground/room.ts'
import { openRounds } from '../../ground/rounds.ts'
import { StartError } from '../../ground/start-error.ts'
import { type Leaf, requireKey, WrongChain } from './chain.ts'
import type { Shown } from './figures.ts'
import { mainNames } from './names.ts'

/** The same in all processes and for all names, or a session begun with one would not be resumed with another. */
export const CONTEXT_ID = 'sluice'

const LOOK_MS = 5000

export type CertificateFiles = {
  covers(name: string): boolean
  contextOf(name: string): SecureContext | undefined
  shown(): Shown
  /** Reads the files anew, if they have changed. */
  refresh(): Promise<void>
  close(): Promise<void>
}

type Loaded = { readonly cert: string; readonly key: string; readonly leaf: Leaf; readonly context: SecureContext }

/** Undefined where no files are set. @throws StartError for files that cannot be served. */
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
  const rounds = openRounds('certificates/files', LOOK_MS, refresh, error => {
    const why = (error as Error).message
    // Said once: a renewal writes one file after the other.
    if (why !== failed)
      log.warn({ problem: why }, 'TLS_CERT and TLS_KEY have changed and cannot be served; the former go on')
    failed = why
  })
  const covers = (name: string) => loaded.leaf.certificate.checkHost(name) !== undefined
  return {
    covers,
    contextOf: name => (covers(name) ? loaded.context : undefined),
    shown: () => ({ ...loaded.leaf, is_main: mainNames(config).some(covers), has_failed: false }),
    refresh,
    close: () => rounds.close(),
  }
}

function load({ cert, key }: Pick<Loaded, 'cert' | 'key'>): Loaded {
  const leaf = requireKey(cert, key)
  try {
    return { cert, key, leaf, context: createSecureContext({ cert, key, sessionIdContext: CONTEXT_ID }) }
  } catch (error) {
    throw new WrongChain((error as Error).message)
  }
}
