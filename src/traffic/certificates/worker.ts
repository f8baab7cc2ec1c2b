/** Sees to it that each name that is served has a certificate: orders what is due, a few at a time. Any number of processes may. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { openAuthority } from './authority.ts'
import { noteObstacles, wantNames } from './certificates.ts'
import { claimDue } from './claim.ts'
import type { CertificateFiles } from './files.ts'
import { mainNames, namesToServe } from './names.ts'
import { noticeCertificates } from './notices.ts'
import { type Ordering, orderFor } from './order.ts'
import { askWhenToRenew } from './questions.ts'

/** Whoever adds a domain waits in front of the screen. */
const POLL_MS = 2000
/** How long an order that is under way may take to be given back when the process ends. */
const PATIENCE_MS = 5000

/**
 * Looks every few seconds until it is closed. Names that `files` covers need nobody's certificate; `onServed` is told of those whose own was put
 * in service.
 */
export function openCertificateWorker(
  ground: Ground,
  files: CertificateFiles | undefined,
  onServed: Ordering['onServed'],
): Rounds {
  const { db, config, log } = ground
  const ordering = { ...ground, authority: openAuthority(ground), onServed }
  const closing = new AbortController()
  const underWay = new Set<Promise<void>>()
  let obstructed: readonly string[] = []
  const fill = async (): Promise<void> => {
    if (closing.signal.aborted) return
    for (const claimed of await claimDue(db, {
      directory: config.acmeDirectory,
      main: mainNames(config),
      except: obstructed,
    })) {
      // The place of an order that has ended is taken by the next one at once.
      const ended: Promise<void> = orderFor(ordering, claimed, closing.signal)
        .then(fill)
        .catch((error: unknown) => log.warn({ err: error }, 'what became of an order could not be written down'))
        .finally(() => underWay.delete(ended))
      underWay.add(ended)
    }
  }
  const rounds = openRounds(
    'certificates/worker',
    POLL_MS,
    async () => {
      const { names, obstacles } = await namesToServe(ground)
      await wantNames(
        db,
        names.filter(name => files?.covers(name) !== true),
      )
      await noteObstacles(db, obstacles)
      obstructed = [...obstacles.keys()]
      await fill()
      await askWhenToRenew(ordering, closing.signal)
      await noticeCertificates(ground)
    },
    error => log.warn({ err: error }, 'certificates could not be looked after; it is tried again'),
  )
  return {
    async close() {
      closing.abort()
      await rounds.close()
      await Promise.race([Promise.all(underWay), sleep(PATIENCE_MS, undefined, { ref: false })])
    },
  }
}
