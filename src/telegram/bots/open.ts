/** The bots of a process that serves: in memory, with what is passed on and when each was heard of last. */
import type { Ground, Visit } from '../../ground/room.ts'
import { openLastTimes } from '../../ground/last-times.ts'
import type { Conversions } from '../../intake/events/conversions.ts'
import { createBot } from './add.ts'
import { deleteBot, listBots, readBot } from './bots.ts'
import { checkBot, rotateCopySecret, setBotHook, updateBot } from './change.ts'
import { type Hearer, receiveUpdate, type Reflex } from './hook.ts'
import { openLiveBots } from './live.ts'
import { listRelays } from './relay-log.ts'
import { openRelay } from './relay.ts'

// A time never goes back.
const HEARD = `
  update bots set last_update_at = heard.at
  from unnest($2::uuid[], $3::timestamptz[]) as heard (id, at)
  where bots.org_id = $1 and bots.id = heard.id and (bots.last_update_at is null or bots.last_update_at < heard.at)`

/** Opens it, on the queue that records starts. `hearers` are told of every update, in their order; `reflex` goes before all of them. */
export async function openBots(
  ground: Ground,
  conversions: Pick<Conversions, 'recordStart'>,
  hearers: readonly Hearer[],
  reflex: Reflex = () => undefined,
) {
  const { database, log } = ground
  const live = await openLiveBots(ground)
  const relay = openRelay(ground)
  const heard = openLastTimes<{ org_id: number; id: string }>({
    async write(times) {
      for (const [org_id, own] of Map.groupBy(times, one => one.org_id))
        await database.worker.query(HEARD, [org_id, own.map(({ id }) => id), own.map(({ at }) => at)])
    },
    onError: error => log.debug({ err: error }, 'when bots were heard of last could not be written'),
  })
  const receiving = {
    conversions,
    hearers,
    reflex,
    live,
    relay,
    noteUpdate: ({ org_id, id }: { org_id: number; id: string }) => heard.note({ org_id, id }),
  }
  return {
    deeds: {
      listBots,
      readBot,
      createBot,
      updateBot,
      setBotHook,
      checkBot,
      rotateCopySecret,
      listRelays,
      deleteBot,
      receiveTelegramUpdate: (ground: Ground, visit: Visit) => receiveUpdate(ground, receiving, visit),
    },
    async close() {
      await relay.close()
      await heard.close()
      await live.close()
    },
  }
}
