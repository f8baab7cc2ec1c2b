/** Sends a test message to a receiver at once. */
import type { AlertBody } from '../../contract/alerts.ts'
import type { Call } from '../../contract/endpoint.ts'
import { guardedAgent } from '../../ground/guard.ts'
import type { Context } from '../../ground/room.ts'
import type * as api from './api.ts'
import { sendByChannel } from './channels.ts'
import { recordOutcome, type AttemptOutcome } from './outcomes.ts'
import { storedReceiver } from './rows.ts'
import { replaceTest } from './turns.ts'

/**
 * Sends a message of type `test`, like any other message, but without waiting for quiet hours or the digest. After a failure it stays in the queue.
 * An earlier test that still waits is given up. Refuses `object_not_found`.
 */
export async function testReceiver(
  { db, actor, config, log, secrets }: Context<typeof api.testReceiver>,
  { params }: Call<typeof api.testReceiver>,
) {
  const receiver = await storedReceiver(db, actor.org_id, params.id)
  const body: AlertBody = {
    type: 'test',
    phase: 'begins',
    episode: null,
    object: null,
    rule: null,
    text: `This is a test: “${receiver.name}” is told about alerts of Sluice.`,
    figures: {},
    causes: [],
    at: new Date().toISOString(),
    url: '/automation/receivers',
  }
  const message = await replaceTest(db, receiver, body)
  const agent = guardedAgent({ allowPrivate: config.allowPrivateTargets, connections: 1 })
  const began = performance.now()
  try {
    const outcome = await sendByChannel({ db, config, log, secrets, agent }, message)
    const took_ms = Math.round(performance.now() - began)
    await recordOutcome(db, message, outcome)
    return { ok: outcome.is === 'sent', error: errorOf(outcome), took_ms }
  } finally {
    await agent.close()
  }
}

function errorOf(outcome: AttemptOutcome): string | null {
  if (outcome.is === 'again') return 'it could not be sent now; it is sent as soon as possible'
  return outcome.is === 'failed' ? outcome.error : null
}
