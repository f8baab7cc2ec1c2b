import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { newId } from '../../contract/ids.ts'
import type { ClickState } from '../../intake/counters/click-sheet.ts'
import { factRowsBefore, factRowsOf, type SheetEntry } from './entries.ts'
import { type FactRow, factOf, type FixedClick, net, type TextColumn, TEXTS, visitorHashIn } from './facts.ts'
import { decode, encode } from './parquet.ts'

const DAY = Date.parse('2026-03-01')
const hash = (visitor_id: string): bigint => BigInt.asIntN(64, BigInt(`0x${visitor_id.slice(-12)}`))

const text = fc.option(fc.oneof(fc.constantFrom('', 'a', '=', 'ünï', '\n'), fc.string({ unit: 'grapheme' })))
const clicks = fc
  .record({
    ms: fc.nat(3),
    campaign: fc.option(fc.constantFrom(newId(1), newId(2))),
    sub1: text,
    sub9: text,
    visitor_id: fc.option(fc.constantFrom(newId(3), newId(4))),
    cost: fc.option(fc.constantFrom('0', '0.000000001', '12.5')),
    is_priced: fc.boolean(),
  })
  .map(({ ms, ...own }): FixedClick => {
    const none = Object.fromEntries(TEXTS.map(name => [name, null])) as Record<TextColumn, null>
    return { id: newId(DAY + ms), ...none, geo: 'DE', visitor_is_new: true, ...own }
  })

const born = fc.record({ tracked: fc.boolean(), bot_id: fc.option(fc.constantFrom(newId(5))) })
const change = fc.record(
  {
    stages: fc.constantFrom(1, 3, 35, 127),
    tracked: fc.constant(true),
    bot_id: fc.constantFrom(newId(5), newId(6)),
    revenue: fc.option(fc.constantFrom('1', '1.00', '2.500000', '-0.000001')),
    cost_counts: fc.constant(true),
    approved: fc.option(fc.nat(2)),
    pending: fc.option(fc.nat(2)),
    rejected: fc.option(fc.nat(2)),
    revenue_pending: fc.option(fc.constantFrom('0', '7.25')),
    conversions: fc.option(fc.constantFrom('lead:1,0,0,1000000', 'lead:1,0,0', 'ftd:0,1,0,0 lead:2,0,1,2500000')),
  },
  { requiredKeys: [] },
)

const NEW = {
  stages: 1,
  revenue: null,
  approved: null,
  pending: null,
  rejected: null,
  revenue_pending: null,
  conversions: null,
}
const changeOf = (id: string, was: ClickState, is: ClickState): SheetEntry =>
  ({
    id,
    ...is,
    ...Object.fromEntries(Object.entries(was).map(([name, value]) => [`was_${name}`, value])),
  }) as SheetEntry

/** A click's history as entries of sheets, and its final state. */
const histories = fc
  .tuple(clicks, born, fc.array(change, { maxLength: 6 }))
  .map(([click, { tracked, bot_id }, all]) => {
    const first: ClickState = { ...NEW, tracked, bot_id, cost_counts: click.is_priced ? tracked : null }
    // The entry of a new click has no cost.
    const entries = [{ ...changeOf(click.id, first, { ...first, cost_counts: null }), was_stages: null }]
    let state = first
    for (const { cost_counts, ...changed } of all) {
      const is = {
        ...state,
        ...changed,
        cost_counts: click.is_priced ? cost_counts === true || state.cost_counts : null,
      }
      entries.push(changeOf(click.id, state, is) as (typeof entries)[number])
      state = is
    }
    return { click, entries: entries as SheetEntry[], state }
  })

const sorted = (rows: readonly FactRow[]) =>
  rows
    .map(row =>
      JSON.stringify(
        Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)),
        (_, value) => (typeof value === 'bigint' ? `${value}` : value),
      ),
    )
    .sort()

test('whatever happens to clicks, entries in any order and any portions net to their present state', () => {
  fc.assert(
    fc.property(fc.array(histories, { maxLength: 8 }), fc.infiniteStream(fc.nat()), (all, random) => {
      const told = all.flatMap(({ click, entries }) =>
        entries.map(entry => ({ entry, click, at: random.next().value })),
      )
      told.sort((a, b) => a.at - b.at)
      const parts: FactRow[][] = [[], [], []]
      for (const [at, part] of parts.entries())
        for (const one of all) {
          const own = told.filter(({ click, at: drawn }) => click === one.click && drawn % 3 === at)
          const rows = factRowsOf(
            one.click,
            own.map(({ entry }) => entry),
            hash,
          )
          assert.deepEqual(sorted(net(rows)), sorted(rows), 'states in between have cancelled')
          part.push(...rows)
        }
      const left = net(parts.flatMap(part => net(part)))
      const is = all.map(({ click, state }) => ({
        ...factOf(click, state, visitorHashIn(click, hash)),
        sign: 1 as const,
      }))
      assert.deepEqual(sorted(left), sorted(is))
    }),
    { numRuns: 300 },
  )
})

test('undoing later entries gives the earlier state of a click, and adding them again gives the later one', () => {
  fc.assert(
    fc.property(histories, fc.nat(6), ({ click, entries, state }, from) => {
      const waiting = entries.slice(from)
      const sealed = factRowsBefore({ ...click, ...state }, waiting, hash)
      assert.ok(sealed.every(({ sign }) => sign === 1) && sealed.length === (from === 0 ? 0 : 1))
      const later = net([...sealed, ...factRowsOf(click, waiting, hash)])
      assert.deepEqual(sorted(later), sorted([{ ...factOf(click, state, visitorHashIn(click, hash)), sign: 1 }]))
    }),
  )
})

test('decoding a body returns the encoded rows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(histories, { minLength: 1, maxLength: 20 }), async all => {
      const rows = all.flatMap(({ click, entries }) => entries.flatMap(entry => factRowsOf(click, [entry], hash)))
      assert.deepEqual(sorted(await decode(encode(rows))), sorted(rows))
    }),
  )
})
