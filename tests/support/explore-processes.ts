// Asks Explore of whole processes: sessions, questions over HTTP, and random questions about their clicks.
import assert from 'node:assert/strict'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import type { ExploreQuestion } from '../../src/contract/explore.ts'
import type { ExploreAnswer } from '../../src/contract/explore-answer.ts'
import { type ExploreDimension, isObjectDimension } from '../../src/contract/explore-dimensions.ts'
import { newId, toWireId } from '../../src/contract/ids.ts'
import { LADDER } from '../../src/contract/ladder.ts'
import type { Database } from '../../src/ground/db/connect.ts'
import { openSecrets, type Secrets } from '../../src/ground/db/secrets.ts'
import { type Ask, anyQuestion, assertAnswered } from './any-question.ts'
import type { Target } from './load.ts'
import { seedSession } from './people.ts'

/** Settings with which a question may take as long as it needs beside other tests. */
export const patient: Record<string, string> = {
  NODE_OPTIONS: `--import ${pathToFileURL(join(import.meta.dirname, 'hasty-explore.ts')).href}`,
}

/** The same, with these pauses of sealing, merging and checking in milliseconds. */
export const hasty = (rounds: { seal: number; merge: number; check?: number }): Record<string, string> => ({
  ...patient,
  SLUICE_TEST_ROUNDS: Object.entries(rounds)
    .map(([room, ms]) => `${room}=${ms}`)
    .join(' '),
})

/** The secrets of processes that were started with this SECRET. */
export const secretsOf = (database: Database, secret = 'the same in all processes'): Promise<Secrets> =>
  openSecrets({ secret, dataDir: '' }, database.kysely)

/** The cookie of the owner of a target's organization. */
export async function cookieOf(database: Database, secrets: Secrets, { org_id }: Target): Promise<string> {
  const { rows } = await database.worker.query<{ user_id: string }>('select user_id from members where org_id = $1', [
    org_id,
  ])
  return seedSession({ database, ground: { secrets } }, rows[0]?.user_id ?? assert.fail())
}

const PATIENCE_MS = 300_000

/**
 * Asks the process that `address` names then, again for as long as it says that it cannot: a database that has just come back, a queue that is full,
 * a scan that took too long while other processes were starting.
 */
export function asker(address: () => string, cookie: string): Ask {
  return async (question: ExploreQuestion) => {
    for (const deadline = performance.now() + PATIENCE_MS; ; await sleep(100)) {
      const to = address()
      const headers = { cookie, origin: to, 'content-type': 'application/json' }
      const answer = await fetch(`${to}/api/explore`, { method: 'POST', headers, body: JSON.stringify(question) })
      const body = await answer.text()
      const isForLater = answer.status === 503 || body.includes('question_too_wide')
      if (isForLater && performance.now() < deadline) continue
      assert.equal(answer.status, 200, `${body} ${JSON.stringify(question)}`)
      return JSON.parse(body) as ExploreAnswer
    }
  }
}

/** A random visit: some parameters with few values, some with many, some phones. */
export function anyVisit(): { query: string; headers: Record<string, string> } {
  const [words = {}] = fc.sample(
    fc.record(
      {
        sub1: fc.constantFrom('zone 1', 'zone 2', 'Zone 3', 'ünï'),
        sub2: fc.constantFrom('a', 'A', 'b'),
        sub5: fc.uuid(),
        sub9: fc.constantFrom("it's", '100%_'),
        ref_id: fc.uuid(),
        cost: fc.constantFrom('0.013', '1.5', 'not read', '0.000000001'),
        fbclid: fc.constant('private-fbclid'),
      },
      { requiredKeys: [] },
    ),
    1,
  )
  const [agent = ''] = fc.sample(fc.constantFrom(...AGENTS), 1)
  return { query: String(new URLSearchParams(words)), headers: { 'user-agent': agent } }
}

const AGENTS = [
  'Mozilla/5.0 (Linux; Android 13; SM-S908B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/112.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:125.0) Gecko/20100101 Firefox/125.0',
  'Googlebot/2.1 (+http://www.google.com/bot.html)',
]

const WORDS: Readonly<Record<string, readonly string[]>> = {
  hour: ['00', '12', '23'],
  weekday: ['1', '7'],
  weekday_hour: ['7-03', '1-23'],
  is_new: ['true', 'false'],
  status: LADDER,
  way: ['redirect', 'page'],
  is_left_out: ['true', 'false'],
  device: ['mobile', 'desktop', 'bot'],
  os: ['Android', 'iOS'],
  browser: ['Chrome', 'Firefox'],
  sub1: ['zone 1', 'zone', 'ünï'],
  sub2: ['a', 'A'],
}

/** Compares the answers to `count` random questions about a target's clicks with recounts. */
export async function assertExactAnswers(ask: Ask, database: Database, org_id: number, count: number): Promise<void> {
  const { rows } = await database.worker.query<{ campaign_id: string; offer_id: string; from: string; to: string }>(
    `select min(campaign_id::text) as campaign_id, min(offer_id::text) as offer_id, min(id::text) as from, max(id::text) as to
    from clicks where org_id = $1`,
    [org_id],
  )
  const [{ campaign_id, offer_id, from, to } = assert.fail()] = rows
  const at = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  const days = [at(from), at(to)].map(moment => new Date(moment).toISOString().slice(0, 10))
  const known: Readonly<Record<string, readonly string[]>> = {
    ...WORDS,
    day: days,
    campaign: [toWireId(campaign_id)],
    offer: [toWireId(offer_id)],
  }
  const keysOf = (dimension: ExploreDimension) =>
    fc.constantFrom(
      ...(known[dimension] ?? (isObjectDimension(dimension) ? [toWireId(newId())] : ['a', 'none of them'])),
    )
  const questions = fc.sample(anyQuestion({ from: at(from), to: at(to) + 1000, keysOf }), count)
  for (const one of questions) await assertAnswered(ask, database, org_id, one)
}
