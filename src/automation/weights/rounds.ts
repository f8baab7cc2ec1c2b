/**
 * Looks at the split tests with automatic weights that are due, by the clock of the process. Several processes may look at the same test, because only
 * one of them moves it. A test that cannot be moved does not stop the others.
 */
import { askEverywhere } from '../../ground/db/everywhere.ts'
import { openQuiet } from '../../ground/db/quiet.ts'
import type { Ground } from '../../ground/room.ts'
import { openRounds, type Rounds } from '../../ground/rounds.ts'
import { DUE_TESTS, type DueTest, storeLook } from '../../traffic/automatic-weights/moves.ts'
import { codeOf, type Tools } from '../own-acts/calls.ts'
import { LOOK_MS, lookAtTest } from './move.ts'

const PAUSE_MS = 1000

export function openWeightRounds(ground: Ground, tools: Tools): Rounds {
  const { log, database } = ground
  const look = async (due: DueTest) => {
    try {
      await lookAtTest({ ground, tools }, due)
    } catch (error) {
      const { org_id, object_id, test } = due
      log.warn({ err: error, org_id, object_id, test }, 'the weights of a split test could not be moved')
      const refused = codeOf(error) ?? 'internal_error'
      await storeLook(ground.db, due, { next_ms: Date.now() + LOOK_MS, refused })
    }
  }
  const round = async (signal: AbortSignal) => {
    const { rows } = await askEverywhere<DueTest>(database.worker, DUE_TESTS, [new Date().toISOString()])
    const failed: unknown[] = []
    for (const due of rows.toSorted(() => Math.random() - 0.5)) {
      if (signal.aborted) return
      await look(due).catch((error: unknown) => failed.push(error))
    }
    if (failed.length > 0) throw failed[0]
  }
  const onError = (error: unknown) => log.error({ err: error }, 'split tests could not be looked at; retrying')
  return openRounds('weights/rounds', PAUSE_MS, round, onError, openQuiet(database.worker))
}
