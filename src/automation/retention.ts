/** Deletes ended messages of receivers after 30 days, and checks of rules and ended episodes of alerts after 90 days. */
import { HOUR_MS } from '../contract/days.ts'
import { openRetention } from '../ground/old-rows.ts'
import type { Ground } from '../ground/room.ts'
import type { Rounds } from '../ground/rounds.ts'

/** Every hour until it is closed. */
export const openAutomationRetention = (ground: Pick<Ground, 'database' | 'db' | 'log'>): Rounds =>
  openRetention(ground, 'automation/retention', HOUR_MS, [
    { table: 'receiver_messages', old: `state <> 'waiting' and ended_at < now() - interval '30 days'` },
    { table: 'rule_checks', old: `checked_at < now() - interval '90 days'` },
    { table: 'alert_episodes', old: `over_at < now() - interval '90 days'` },
  ])
