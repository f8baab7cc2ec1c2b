import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../contract/ids.ts'
import { stableHashOf } from '../../ground/stable-hash.ts'
import type { LiveFunnel, LiveLanding } from '../campaigns/live.ts'
import { choose, compileFunnel } from './choose.ts'

const VISITORS = Array.from({ length: 20_000 }, (_, i) => `visitor-${i}`)
const IDS = ['a', 'b', 'c', 'd'].map(letter => `00000000-0000-7000-8000-00000000000${letter}`)

/** Which landing each of the visitors gets, by weights of 0 (archived) and more. */
function landingsOf(weights: readonly number[]): string[] {
  const objects = new Map<string, LiveLanding>(
    IDS.map((id, at) => [
      id,
      {
        org_id: 1,
        id,
        url: 'https://l.example/',
        status: weights[at] === 0 ? 'archived' : 'active',
        is_deleted: false,
      },
    ]),
  )
  const funnel: LiveFunnel = {
    org_id: 1,
    id: '00000000-0000-7000-8000-0000000000ff',
    is_deleted: false,
    landings: weights.map((weight, at) => ({ landing_id: IDS[at] ?? '', weight: weight || 1 })),
    offers: [],
  }
  const { landings } = compileFunnel(funnel)
  const live = { object: (_kind: string, id: string) => objects.get(id) as never }
  return VISITORS.map(visitor => choose(landings, stableHashOf(visitor), 'landing', live)?.id ?? '')
}

const shareOf = (chosen: readonly string[], at: number) => chosen.filter(id => id === IDS[at]).length / chosen.length

test('members get visitors by their weights', () => {
  const chosen = landingsOf([1, 2, 7])
  for (const [at, expected] of [0.1, 0.2, 0.7].entries())
    assert.ok(Math.abs(shareOf(chosen, at) - expected) < 0.015, `${at}: ${shareOf(chosen, at)}`)
})

test('a visitor keeps his member', () => {
  assert.deepEqual(landingsOf([1, 2, 7]), landingsOf([1, 2, 7]))
})

test('a weight that rises only draws visitors to its member, and moves nobody between the others', () => {
  const [before, after] = [landingsOf([3, 3, 3]), landingsOf([3, 3, 6])]
  const moved = before.flatMap((id, at) => (id === after[at] ? [] : [after[at]]))
  assert.deepEqual(new Set(moved), new Set([IDS[2]]))
  assert.ok(Math.abs(moved.length / VISITORS.length - (0.5 - 1 / 3)) < 0.015, String(moved.length))
})

test('archiving a member moves only its own visitors, and unarchiving brings them back', () => {
  const [before, during] = [landingsOf([1, 1, 1, 1]), landingsOf([1, 1, 0, 1])]
  assert.equal(shareOf(during, 2), 0)
  for (const [at, id] of before.entries()) if (id !== IDS[2]) assert.equal(during[at], id)
  assert.deepEqual(landingsOf([1, 1, 1, 1]), before)
})

test('with every member closed there is none', () => {
  assert.deepEqual(new Set(landingsOf([0, 0])), new Set(['']))
})

test('ids of visitors that differ little are told apart', () => {
  const hashes = new Set(Array.from({ length: 50_000 }, () => stableHashOf(newId())))
  assert.ok(hashes.size > 49_900)
})
