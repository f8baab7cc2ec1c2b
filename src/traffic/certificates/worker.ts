/** The periodic job that orders certificates for all served names, a few at a time. Any number of processes may run it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { openAuthority } from './authority.ts'
import { noteObstacles, wantNames } from './certificates.ts'
import { claimDue } from './claim.ts'
import type { CertificateFiles } from './files.ts'
import { certifiableMainNames, namesToServe } from './names.ts'
import { sendCertificateNotices } from './notices.ts'
import { type Ordering, orderFor } from './order.ts'
import { askWhenToRenew } from './questions.ts'

/** Short, because a person who has added a domain is watching the screen. */
const POLL_MS = 2000
/** How long the closing process waits until the leases of running orders are released. */
const PATIENCE_MS = 5000

/**
 * Runs every few seconds until it is closed. Names that `files` covers are not ordered. `onServed` is called for each name whose certificate was
 * put in service.
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
      main: certifiableMainNames(config),
      except: obstructed,
    })) {
      // When an order ends, the next one starts at once.
      const ended: Promise<void> = orderFor(ordering, claimed, closing.signal)
        .then(fill)
        .catch((error: unknown) => log.warn({ err: error }, 'could not write the result of a certificate order'))
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
      await sendCertificateNotices(ground)
    },
    error => log.warn({ err: error }, 'could not check certificates; retrying'),
  )
  return {
    async close() {
      closing.abort()
      await rounds.close()
      await Promise.race([Promise.all(underWay), sleep(PATIENCE_MS, undefined, { ref: false })])
    },
  }
}
