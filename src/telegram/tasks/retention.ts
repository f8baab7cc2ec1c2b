/** Deletes ended tasks after a week. Telegram repeats an update for a day only, so their keys are no longer needed then. */
import { MINUTE_MS } from '../../contract/days.ts'
import { dropOldRows, openRetention } from '../../ground/old-rows.ts'
import type { Ground } from '../../ground/room.ts'
import type { Rounds } from '../../ground/rounds.ts'

const ENDED = { table: 'bot_tasks', old: `ended_at < now() - interval '7 days'` }

export const dropEndedTasks = (ground: Pick<Ground, 'database' | 'db'>): Promise<void> => dropOldRows(ground, ENDED)

/** Deletes every ten minutes until it is closed. */
export const openTaskRetention = (ground: Pick<Ground, 'database' | 'db' | 'log'>): Rounds =>
  openRetention(ground, 'tasks/retention', 10 * MINUTE_MS, [ENDED])
