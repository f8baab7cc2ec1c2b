// The logic of the Report page: questions and their addresses, open rows, arrow keys, and how figures are formatted, compared and coloured.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExploreQuestion } from '../src/contract/explore.ts'
import { daysOf } from '../src/web/ground/figures/window.ts'
import { clicksOf, daysOfLog } from '../src/web/reading/explore/clicks-of.ts'
import {
  columnsOf,
  differenceOf,
  foldEmpty,
  measuresOf,
  onPhone,
  partOf,
  toneOf,
  usualIds,
  withColumns,
} from '../src/web/reading/explore/columns.ts'
import { keyInWords } from '../src/web/reading/explore/dimensions.ts'
import { isSame, keptOf, screenOf, type View } from '../src/web/reading/explore/kept.ts'
import { reportOfOverview } from '../src/web/reading/explore/old-addresses.ts'
import { byPreset, isBy, presetsOf } from '../src/web/reading/explore/presets.ts'
import { branchOf, hoursOf, questionOf, searchOf } from '../src/web/reading/explore/question.ts'
import { byFilter, byLevels, byOpening, ExploreSearch, isRowOpen, levelsOf } from '../src/web/reading/explore/search.ts'
import { moveBy } from '../src/web/reading/explore/tree.ts'

const WINDOW = { date_from: '2026-03-01', date_to: '2026-03-31T23:59:59.999Z' }
const read = (address: unknown) => ExploreSearch.parse(address)
/** The question as the server parses it. */
const asked = (address: unknown, zone = 'UTC') => {
  const question = questionOf(read(address), WINDOW, zone)
  assert.deepEqual(ExploreQuestion.parse(question), question)
  return question
}

describe('the address', () => {
  test('an empty address asks for campaigns with the default measures', () => {
    const { levels, filters, sort, measures, compare, ...rest } = asked({})
    assert.deepEqual(levels, [{ dimension: 'campaign' }])
    assert.deepEqual([filters, sort, compare], [undefined, undefined, undefined])
    assert.deepEqual(rest, WINDOW)
    assert.ok(measures?.includes('clicks') && measures.includes('roi') && !measures.includes('unique_visitors'))
  })

  test('has levels, filters, order, comparison and zone of the question', () => {
    const question = asked(
      {
        by: 'geo,campaign,device',
        where: [
          ['geo', 'is', 'DE', 'AT'],
          ['sub1', 'contains', 'zone'],
          ['os', 'is_empty'],
          ['browser', 'is_not', 'Opera'],
        ],
        having: [
          ['roi', 'below', -20],
          ['clicks', 'at_least', 200],
        ],
        goal: 'ftd',
        sort: '-revenue',
        compare: 'before',
      },
      'Europe/Kyiv',
    )
    assert.deepEqual(
      question.levels.map(({ dimension }) => dimension),
      ['geo', 'campaign', 'device'],
    )
    assert.deepEqual(question.filters, [
      { dimension: 'geo', op: 'in', values: ['DE', 'AT'] },
      { dimension: 'sub1', op: 'contains', values: ['zone'] },
      { dimension: 'os', op: 'is_empty' },
      { dimension: 'browser', op: 'is_not', values: ['Opera'] },
    ])
    assert.deepEqual(question.having, [
      { measure: 'roi', op: 'lt', value: '-0.2' },
      { measure: 'clicks', op: 'gte', value: '200' },
    ])
    assert.equal(question.goal, 'ftd')
    assert.deepEqual(question.sort, { by: 'revenue', descending: true })
    assert.equal(question.compare, 'before')
    assert.equal(question.time_zone, 'Europe/Kyiv')
  })

  test('a question and its address are equivalent', () => {
    const question = asked({
      by: 'sub1,hour',
      where: [
        ['campaign', 'is_not', '01h455vb4pex5vsknk084sn02q', '01h455vb4pex5vsknk084sn02r'],
        ['ref_id', 'is_filled'],
      ],
      having: [
        ['cr', 'at_most', 0.7],
        ['events_purchase', 'not_equals', 3],
      ],
      goal: 'purchase',
      sort: 'key',
      compare: 'before',
      columns: 'clicks,unique_visitors,profit,cost,cr,events_purchase',
    })
    assert.deepEqual(questionOf(read(searchOf(question)), WINDOW, 'UTC'), question)
  })

  test('a view saved without a screen shows its question, and opening it does not change it', () => {
    const view = (question: object): View => ({
      id: '1',
      name: 'By an API',
      question: { levels: [{ dimension: 'geo' }, { dimension: 'sub1' }], ...question },
      screen: null,
      is_shared: false,
      is_start_page: false,
      is_own: true,
      saved_by: null,
      created_at: '2026-03-01T00:00:00.000Z',
      updated_at: '2026-03-01T00:00:00.000Z',
    })
    const filters = [{ dimension: 'geo', op: 'in', values: ['DE', 'AT'] }]
    for (const question of [{}, { filters, compare: 'before' }, { measures: ['clicks', 'revenue'] }, WINDOW]) {
      const saved = view(question)
      const screen = screenOf(saved, { range: '30d', by: 'os' })
      const kept = keptOf(questionOf(screen, WINDOW, 'UTC'), screen)
      assert.ok(isSame(screenOf(saved, screen), kept.screen), JSON.stringify(kept))
      assert.equal(screen.range, 'date_from' in question ? undefined : '30d')
      assert.equal(isSame(screenOf(saved, screen), { ...screen, by: 'geo' }), false)
      assert.ok(isSame(screenOf(saved, screen), { ...screen, open: [['DE']] }), 'what is open is no part of a view')
    }
    const { from, to } = screenOf(view(WINDOW), {})
    assert.deepEqual([from, to], ['2026-03-01', '2026-03-31'])
  })

  test('windows longer than a report allows are asked for, and the log shows their last days', () => {
    assert.deepEqual(daysOf(read({ range: '365d' }), '2026-03-31', 366), { from: '2025-04-01', to: '2026-03-31' })
    assert.equal(daysOf({ from: '2025-04-01', to: '2026-03-31' }, '2026-03-31').from, '2026-03-25')
    const long = read({ from: '2025-04-01', to: '2026-03-31' })
    assert.equal(daysOf(long, '2026-06-30', 366).from, '2025-04-01')
    assert.deepEqual(daysOfLog(long, '2026-06-30'), { days: { from: '2026-01-01', to: '2026-03-31' }, isCut: true })
    assert.deepEqual(daysOfLog(read({ range: '30d' }), '2026-06-30'), {
      days: { range: '30d', from: undefined, to: undefined },
      isCut: false,
    })
  })

  test('invalid values count as missing', () => {
    const search = read({
      by: 'geo,shoe,geo,os,device,browser,sub1',
      where: [['geo', 'is']],
      colours: 'red',
      sort: '-shoe',
    })
    assert.deepEqual(levelsOf(search), ['geo', 'os', 'device', 'browser'])
    assert.deepEqual([search.where, search.colours], [undefined, undefined])
    assert.equal(asked(search).sort, undefined)
    assert.equal(read({ where: [['campaign', 'contains', 'a']] }).where, undefined)
  })

  test('days have no comparison', () => {
    assert.equal(asked({ by: 'day', compare: 'before' }).compare, undefined)
  })

  test('one branch is asked for, without its levels below, after the rows already shown', () => {
    const question = asked({ by: 'geo,campaign,device' })
    const top = branchOf(question, [], 0)
    assert.deepEqual([top.levels.length, top.within, top.after], [1, [], undefined])
    const next = branchOf(question, ['DE', null], 40)
    assert.deepEqual([next.levels.length, next.within, next.after], [3, ['DE', null], 40])
    for (const branch of [top, next]) assert.ok(ExploreQuestion.safeParse(branch).success)
    // A filter on figures is decided by the rows of the last level.
    const filtered = branchOf(asked({ by: 'geo,campaign', having: [['clicks', 'above', 9]] }), [], 0)
    assert.deepEqual(
      filtered.levels.map(({ dimension, top: rows }) => [dimension, rows]),
      [
        ['geo', 50],
        ['campaign', undefined],
      ],
    )
  })

  test('the heat map has all hours', () => {
    const question = hoursOf(asked({ by: 'geo', sort: '-clicks', compare: 'before' }), 'weekday_hour')
    assert.deepEqual(question.levels, [{ dimension: 'weekday_hour', top: 168 }])
    assert.deepEqual([question.sort, question.compare], [undefined, undefined])
    assert.ok(ExploreQuestion.safeParse(question).success)
  })
})

describe('the tree', () => {
  test('a row opens and closes, and with it the open rows below', () => {
    const opened = [['DE'], ['DE', 'c1'], ['AT']].reduce(
      (search, path) => ({ ...search, ...byOpening(search, path) }),
      read({}),
    )
    assert.ok(isRowOpen(opened, ['DE', 'c1']) && isRowOpen(opened, ['AT']) && !isRowOpen(opened, ['DE', null]))
    assert.deepEqual(byOpening(opened, ['DE']), { open: [['AT']] })
    assert.deepEqual(byOpening({ ...opened, open: [['AT']] }, ['AT']), { open: undefined })
  })

  test('rows stay open under unchanged levels, and no others', () => {
    const search = read({ by: 'geo,campaign,device', open: [['DE'], ['DE', 'c1']] })
    assert.deepEqual(byLevels(['geo', 'campaign', 'os'], search).open, [['DE'], ['DE', 'c1']])
    assert.deepEqual(byLevels(['geo', 'os'], search).open, [['DE']])
    assert.equal(byLevels(['campaign', 'geo'], search).open, undefined)
    assert.equal(byLevels(['geo'], search).open, undefined)
    assert.deepEqual(byLevels(['campaign'], read({})), { by: undefined, open: undefined })
  })

  test('a filter includes only this value, or excludes one more', () => {
    const search = read({
      where: [
        ['geo', 'is', 'DE', 'AT'],
        ['os', 'is_not', 'iOS'],
      ],
    })
    assert.deepEqual(byFilter(['geo', 'is', 'DE'], search).where?.[0], ['geo', 'is', 'DE'])
    assert.deepEqual(byFilter(['os', 'is_not', 'Linux'], search).where?.[1], ['os', 'is_not', 'iOS', 'Linux'])
    assert.equal(byFilter(['device', 'is_empty'], search).where?.length, 3)
    const twice = read({ where: [['device', 'is_empty']] })
    assert.equal(byFilter(['device', 'is_empty'], twice).where?.length, 1)
  })

  test('arrow keys move; right opens and enters, left closes and leaves', () => {
    const rows = [
      { level: 1, isOpen: true },
      { level: 2, isOpen: false },
      { level: 2, isOpen: undefined },
      { level: 1, isOpen: false },
    ]
    assert.deepEqual(moveBy('ArrowDown', rows, 0), { to: 1 })
    assert.deepEqual(moveBy('ArrowDown', rows, 3), { to: 3 })
    assert.deepEqual(moveBy('ArrowUp', rows, 0), { to: 0 })
    assert.deepEqual(moveBy('End', rows, 0), { to: 3 })
    assert.deepEqual(moveBy('ArrowRight', rows, 0), { to: 1 })
    assert.equal(moveBy('ArrowRight', rows, 1), 'toggle')
    assert.equal(moveBy('ArrowRight', rows, 2), undefined)
    assert.equal(moveBy('ArrowLeft', rows, 0), 'toggle')
    assert.deepEqual(moveBy('ArrowLeft', rows, 2), { to: 0 })
    assert.equal(moveBy('ArrowLeft', rows, 3), undefined)
    assert.equal(moveBy('a', rows, 0), undefined)
  })
})

describe('figures', () => {
  const own = read({ columns: 'clicks,=Each', own: [['Each', 'revenue / landed', 'money']] })

  test('columns are those of the address, in its order, plus those that formulas need', () => {
    assert.deepEqual(
      columnsOf(own).map(({ title }) => title),
      ['Clicks', 'Each'],
    )
    assert.deepEqual(measuresOf(own), ['clicks', 'landed', 'revenue'])
    assert.deepEqual(asked(own).measures, ['clicks', 'landed', 'revenue'])
    // Measures for sorting and filters are counted even without a column.
    const having = read({ columns: 'clicks', sort: 'profit', having: [['lead', 'above', 1]] })
    assert.deepEqual(measuresOf(having), ['clicks', 'lead', 'cost', 'profit'])
  })

  test('an unknown cost has no derived figures, and a partly known cost shows the unknown part', () => {
    const [profit, roi] = columnsOf({ columns: 'profit,roi' })
    assert.deepEqual(measuresOf({ columns: 'profit,roi' }), ['clicks', 'cost', 'profit', 'roi'])
    assert.deepEqual(
      [profit?.text({ cost: null, profit: null }), profit?.number({ cost: null, profit: null })],
      ['—', undefined],
    )
    assert.equal(profit?.text({ cost: '0.00', profit: '9.00' }), '9.00')
    const without = { clicks_without_cost: 2, revenue_without_cost: '3.50' }
    assert.equal(partOf({ cost: null, ...without }), undefined)
    assert.equal(partOf({ cost: '1.00', clicks_without_cost: 0, revenue_without_cost: '0.00' }), undefined)
    assert.deepEqual(partOf({ cost: '1.00', ...without }), { clicks: 2, revenue: '3.50' })
    assert.equal(profit?.text({ cost: '0.000001', profit: '9.00' }), '9.00')
    assert.equal(roi?.text({ cost: '10.00', roi: -0.5 }), '−50.0%')
  })

  test('money comes first, on a phone profit and ROI; without columns in the address a person’s choice counts', () => {
    const ids = (columns: ReturnType<typeof columnsOf>) => columns.map(({ id }) => id)
    const usual = columnsOf({})
    assert.deepEqual(ids(usual).slice(0, 8), ['clicks', 'conversions', 'cr', 'epc', 'revenue', 'cost', 'profit', 'roi'])
    assert.deepEqual(ids(onPhone(usual)).slice(0, 3), ['clicks', 'profit', 'roi'])
    assert.deepEqual(ids(onPhone(usual)).toSorted(), ids(usual).toSorted())
    const chosen = { columns: 'cr,clicks,=Each', own: own.own }
    assert.deepEqual(ids(onPhone(columnsOf(chosen))), ['cr', 'clicks', '=Each'])
    assert.deepEqual(withColumns({ by: 'geo' }, chosen, usualIds()), { by: 'geo', colours: undefined, ...chosen })
    assert.equal(withColumns({ columns: 'roi' }, chosen, usualIds()).columns, 'roi')
    assert.equal(
      withColumns({}, {}, usualIds(['purchase', 'ftd'])).columns?.includes('roi,events_purchase,landed'),
      true,
    )
  })

  test('columns without a value are folded, except money and requested ones', () => {
    const columns = columnsOf({ columns: 'clicks,cost,lead,ftd,started,=Each', own: own.own })
    const { shown, folded } = foldEmpty(columns, [{ clicks: 0, cost: null, lead: 0, ftd: 0, started: 2 }], ['ftd'])
    assert.deepEqual(
      [shown, folded].map(some => some.map(({ id }) => id)),
      [
        ['clicks', 'cost', 'ftd', 'started'],
        ['lead', '=Each'],
      ],
    )
  })

  test('a custom figure is computed from the row, and empty if it has no value', () => {
    const each = columnsOf(own).at(-1)
    assert.equal(each?.text({ landed: 4, revenue: '10.00' }), '2.50')
    assert.equal(each?.text({ landed: 0, revenue: '10.00' }), '—')
    assert.equal(each?.text({ landed: 4 }), '—')
  })

  test('a change is relative to the period before, shares change in points, and a loss is no base', () => {
    const [revenue, roi, profit, cpc] = columnsOf(read({ columns: 'revenue,roi,profit,cpc' }))
    assert.ok(revenue && roi && profit && cpc)
    assert.deepEqual(differenceOf(revenue, { revenue: '150.00' }, { revenue: '100.00' }), { words: '+50.0%', tone: 1 })
    assert.deepEqual(differenceOf(roi, { roi: 0.2 }, { roi: 0.5 }), { words: '−30 pp', tone: -1 })
    assert.deepEqual(differenceOf(profit, { profit: '5.00' }, { profit: '-10.00' }), { words: '+15.00', tone: 1 })
    assert.deepEqual(differenceOf(cpc, { cpc: '0.050000' }, { cpc: '0.040000' }), { words: '+25.0%', tone: -1 })
    assert.deepEqual(differenceOf(roi, { roi: 0.2 }, { roi: 0.2 }), { words: '±0', tone: 0 })
    assert.equal(differenceOf(roi, { roi: 0.2 }, { roi: null }), undefined)
    assert.equal(differenceOf(revenue, { revenue: '1.00' }, undefined), undefined)
  })

  test('thresholds set colours, shares by percent, and the last match counts', () => {
    const [roi, clicks] = columnsOf(read({ columns: 'roi,clicks' }))
    assert.ok(roi && clicks)
    const colours = read({
      colours: [
        ['roi', 'below', 0, 'bad'],
        ['roi', 'below', -50, 'good'],
        ['clicks', 'above', 9, 'good'],
      ],
    }).colours
    assert.equal(toneOf(roi, { roi: -0.2 }, colours), 'bad')
    assert.equal(toneOf(roi, { roi: -0.6 }, colours), 'good')
    assert.equal(toneOf(roi, { roi: 0 }, colours), undefined)
    assert.equal(toneOf(roi, { roi: null }, colours), undefined)
    assert.equal(toneOf(clicks, { clicks: 10 }, colours), 'good')
  })

  test('keys are shown in words', () => {
    assert.equal(keyInWords('geo', 'DE', 'DE'), 'Germany')
    assert.equal(keyInWords('weekday_hour', '7-09', '7-09'), 'Sunday 09:00')
    assert.equal(keyInWords('campaign', '01h455vb4pex5vsknk084sn02q', 'Broad'), 'Broad')
    assert.equal(keyInWords('sub1', null, '(none)'), '(none)')
    assert.equal(keyInWords('is_new', 'false', 'false'), 'Returning visitors')
  })
})

test('zones and creatives are the subs that the source names so, else the default ones', () => {
  const [propeller, meta] = [
    { sub1: 'Zone', sub2: 'Creative', sub3: 'Campaign' },
    { sub1: 'Ad', sub2: 'Ad set', sub4: 'Placement', sub5: 'Site type' },
  ]
  const subs = (...sources: Parameters<typeof presetsOf>[0]) =>
    presetsOf(sources).flatMap(({ title, dimension }) => (/Zones|Creatives/.test(title) ? [dimension] : []))
  assert.deepEqual(subs(propeller), ['sub1', 'sub2'])
  assert.deepEqual(subs(meta), ['sub4', 'sub1'])
  assert.deepEqual(subs(), ['sub1', 'sub2'])
  assert.deepEqual(subs({}, propeller), ['sub1', 'sub2'])
  assert.deepEqual(subs({ sub3: 'Zone id' }), ['sub3', undefined])
  assert.deepEqual(subs(propeller, meta), ['sub1', 'sub2'])
  const search = read({ by: 'geo,os', open: [['DE']], sort: 'profit', view: 'hours', where: [['geo', 'is', 'DE']] })
  const next = { ...search, ...byPreset('hour', search) }
  assert.deepEqual(
    [next.by, next.open, next.sort, next.view, next.where],
    ['hour', undefined, 'profit', undefined, search.where],
  )
  assert.ok(isBy('hour', next) && !isBy('hour', search))
  assert.equal({ ...search, ...byPreset('day', { ...search, sort: '-key' }) }.sort, undefined)
})

test('an address of the overview’s table opens the report, and one of the overview alone does not', () => {
  assert.deepEqual(
    JSON.parse(
      JSON.stringify(
        reportOfOverview({ by: 'sub1', campaign: 'c1', goal: 'started', sort: '-goal', range: '30d', chart: 'cr' }),
      ),
    ),
    { range: '30d', by: 'sub1', where: [['campaign', 'is', 'c1']], goal: 'bot_start', sort: '-conversions' },
  )
  assert.deepEqual(JSON.parse(JSON.stringify(reportOfOverview({ by: 'week', heat: 'goal', pending: true }))), {
    view: 'hours',
    shade: 'conversions',
    pending: true,
  })
  assert.equal(reportOfOverview({ sort: '-purchase' })?.sort, '-events_purchase')
  assert.equal(reportOfOverview({ by: 'day', sort: 'source' })?.sort, undefined)
  assert.equal(reportOfOverview({ range: 'today', campaign: 'c1', goal: 'lead' }), undefined)
})

test('the click log gets every filter it supports, and the others are listed', () => {
  const { search, left } = clicksOf([
    ['geo', 'is', 'DE', 'AT'],
    ['device', 'is', 'mobile'],
    ['sub1', 'contains', 'zone'],
    ['geo', 'is', 'DE'],
    ['campaign', 'is', '01h455vb4pex5vsknk084sn02q'],
    ['status', 'is', 'lead'],
  ])
  assert.deepEqual(search, { country: 'DE', campaign: '01h455vb4pex5vsknk084sn02q', status: 'lead' })
  assert.deepEqual(left, ['device', 'sub1'])
  assert.deepEqual(clicksOf([['geo', 'is_empty']]), { search: { country: 'none' }, left: [] })
})
