/** Opens the bots of a serving process: the bots in memory, their relay, and the times of their last updates. */
import type { Ground, Visit } from '../../ground/room.ts'
import { openLastTimes } from '../../ground/last-times.ts'
import type { Conversions } from '../../intake/events/conversions.ts'
import { createBot } from './add.ts'
import { deleteBot, listBots, readBot } from './bots.ts'
import { checkBot, rotateCopySecret, setBotHook, updateBot } from './change.ts'
import { type UpdateListener, receiveUpdate, type InstantReply } from './hook.ts'
import { openLiveBots } from './live.ts'
import { listRelays } from './relay-log.ts'
import { openRelay } from './relay.ts'

// The time never moves backwards, whichever process writes last.
const LAST_UPDATES = `
  update bots set last_update_at = latest.at
  from unnest($2::uuid[], $3::timestamptz[]) as latest (id, at)
  where bots.org_id = $1 and bots.id = latest.id and (bots.last_update_at is null or bots.last_update_at < latest.at)`

/** `listeners` handle every update in their order; `instantReply` comes before all of them. */
export async function openBots(
  ground: Ground,
  conversions: Pick<Conversions, 'recordStart'>,
  listeners: readonly UpdateListener[],
  instantReply: InstantReply = () => undefined,
) {
  const { database, log } = ground
  const live = await openLiveBots(ground)
  const relay = openRelay(ground)
  const lastUpdates = openLastTimes<{ org_id: number; id: string }>({
    async write(times) {
      for (const [org_id, own] of Map.groupBy(times, one => one.org_id))
        await database.worker.query(LAST_UPDATES, [org_id, own.map(({ id }) => id), own.map(({ at }) => at)])
    },
    onError: error => log.debug({ err: error }, 'could not write the times of bots’ last updates'),
  })
  const handling = {
    conversions,
    listeners,
    instantReply,
    live,
    relay,
    noteUpdate: ({ org_id, id }: { org_id: number; id: string }) => lastUpdates.note({ org_id, id }),
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
      receiveTelegramUpdate: (ground: Ground, visit: Visit) => receiveUpdate(ground, handling, visit),
    },
    async close() {
      await relay.close()
      await lastUpdates.close()
      await live.close()
    },
  }
}
