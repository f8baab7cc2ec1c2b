// The default messages for invalid fields. A field's name precedes them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import './words.ts'

const Shape = z.object({
  name: z.string().min(1).max(5),
  count: z.int().min(2).max(9),
  share: z.number().positive().lt(1).multipleOf(0.25),
  kind: z.enum(['lead', 'ftd']),
  tags: z.array(z.string()).min(1).max(2),
  pair: z.array(z.string()).length(2),
  mail: z.email(),
  page: z.url(),
  day: z.iso.date(),
  on: z.boolean(),
  sent: z.union([z.string(), z.number()]),
  goal: z.discriminatedUnion('is', [z.object({ is: z.literal('offer') }), z.object({ is: z.literal('url') })]),
  inner: z.strictObject({ a: z.literal(1) }),
  own: z.string({ error: 'must be a secret word' }),
})

const GOOD = {
  name: 'Ann',
  count: 3,
  share: 0.5,
  kind: 'lead',
  tags: ['a'],
  pair: ['a', 'b'],
  mail: 'ann@example.com',
  page: 'https://example.com/',
  day: '2026-01-31',
  on: true,
  sent: 'x',
  goal: { is: 'offer' },
  inner: { a: 1 },
  own: 'x',
}

function wordsFor(change: object): string {
  const { error } = Shape.safeParse({ ...GOOD, ...change })
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
}

const CASES: [object, string][] = [
  [{}, ''],
  [{ name: undefined }, 'name: is required'],
  [{ name: 7 }, 'name: must be text'],
  [{ name: '' }, 'name: must not be empty'],
  [{ name: 'sixsix' }, 'name: must be at most 5 characters long'],
  [{ count: 1 }, 'count: must be at least 2'],
  [{ count: 10 }, 'count: must be at most 9'],
  [{ count: 2.5 }, 'count: must be a whole number'],
  [{ count: Number.NaN }, 'count: must be a finite number'],
  [{ share: 0 }, 'share: must be more than 0'],
  [{ share: 1 }, 'share: must be less than 1'],
  [{ share: 0.3 }, 'share: must be a multiple of 0.25'],
  [{ kind: 'x' }, 'kind: must be one of lead, ftd'],
  [{ tags: [] }, 'tags: must not be empty'],
  [{ tags: ['a', 'b', 'c'] }, 'tags: must have at most 2 entries'],
  [{ pair: ['a'] }, 'pair: must have exactly 2 entries'],
  [{ mail: 'x' }, 'mail: must be an e-mail address'],
  [{ page: 'x' }, 'page: must be a web address, such as https://example.com/'],
  [{ day: '2026-02-30' }, 'day: must be a day, such as 2026-01-31'],
  [{ on: 'yes' }, 'on: must be true or false'],
  [{ sent: null }, 'sent: must be text or must be a number'],
  [{ goal: { is: 'x' } }, 'goal.is: must be one of offer, url'],
  [{ inner: { a: 2 } }, 'inner.a: must be 1'],
  [{ inner: { a: 1, b: 1 } }, 'inner: there is no "b" here'],
  [{ own: 1 }, 'own: must be a secret word'],
]

test('each fault says what to send', () => {
  for (const [change, words] of CASES) assert.equal(wordsFor(change), words)
})
