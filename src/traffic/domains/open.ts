/** Opens the domains of a process that serves visitors: the memory, the checks that people ask for, and the times of last visits. */
import type { DomainHost, Ground } from '../../ground/room.ts'
import { type LastTimes, openLastTimes } from '../../ground/last-times.ts'
import { openChecker } from './checker.ts'
import { domainDeeds, deleteDomain, listDomains, readDomain, updateDomain } from './domains.ts'
import { openLiveDomains } from './live.ts'
import { answerProbe, tlsAsked } from './visits.ts'

// A later time is never overwritten by an earlier one.
const WRITE = `
  update domains set last_visit_at = visited.at
  from unnest($2::uuid[], $3::timestamptz[]) as visited (id, at)
  where domains.org_id = $1 and domains.id = visited.id
    and (domains.last_visit_at is null or domains.last_visit_at < visited.at)`

/** `deeds` are the room's; `find` and `noteVisit` are for the gate. */
export async function openDomains(ground: Ground) {
  const live = await openLiveDomains(ground)
  const checker = openChecker(ground)
  const visits = openVisitTimes(ground)
  return {
    find: live.find,
    noteVisit: ({ org_id, id }: DomainHost) => visits.note({ org_id, id }),
    deeds: {
      listDomains,
      readDomain,
      updateDomain,
      deleteDomain,
      ...domainDeeds(checker),
      answerProbe,
      askTls: tlsAsked(live),
    },
    async close() {
      await checker.close()
      await visits.close()
      await live.close()
    },
  }
}

function openVisitTimes({ database, log }: Ground): LastTimes<{ org_id: number; id: string }> {
  return openLastTimes({
    async write(times) {
      for (const [org_id, own] of Map.groupBy(times, one => one.org_id))
        await database.worker.query(WRITE, [org_id, own.map(({ id }) => id), own.map(({ at }) => at)])
    },
    onError: error => log.debug({ err: error }, 'the last visits of domains could not be written'),
  })
}
