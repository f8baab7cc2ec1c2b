// Reconciling: how lines are matched and sorted into heaps, what an act does, and how it is put back.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { readClick, seedClick, seedClicks, tally } from '../../../tests/support/intake.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS } from '../../contract/days.ts'
import { auditBooks } from '../../reading/audit/audit.ts'
import type { Network } from '../networks/api.ts'
import type { ActedLine, ReconciledLine, Reconciliation } from './api.ts'
import { dropOldReconciliations } from './retention.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

/** An owner with a network, and calls as them. */
async function workspace(changes: object = {}) {
  const owner = await seedSignedIn(house)
  const made = await house.call('POST', '/api/networks', { ...owner, body: { name: 'Net', template: 'keitaro' } })
  const { id, postback_url } = made.json<Network>()
  const changed = await house.call('PATCH', `/api/networks/${id}`, { ...owner, body: { convert: true, ...changes } })
  assert.equal(changed.statusCode, 200, changed.body)
  const path = new URL(postback_url).pathname
  const click = async () => await seedClick(house.database, owner.org_id)
  const fire = async (click_id: string, query: Record<string, string>) => {
    const sent = new URLSearchParams({ subid: toWireId(click_id), status: 'sale', ...query }).toString()
    assert.equal((await house.call('GET', `${path}?${sent}`)).body.trim(), 'OK')
  }
  const send = (text: string | Buffer, query: Record<string, string> = {}, as: SignedIn = owner) =>
    house.call('POST', `/api/networks/${id}/reconciliations?${new URLSearchParams(query).toString()}`, {
      cookie: as.cookie,
      payload: text,
      headers: { 'content-type': 'text/csv' },
    })
  const compare = async (lines: readonly string[], query: Record<string, string> = {}) => {
    const reply = await send([TITLES, ...lines].join('\n'), query)
    assert.equal(reply.statusCode, 201, reply.body)
    return reply.json<Reconciliation>()
  }
  const get = async <T>(url: string) => {
    const reply = await house.call('GET', url, owner)
    assert.equal(reply.statusCode, 200, reply.body)
    return reply.json<T>()
  }
  const linesOf = async (one: { id: string }, heap?: string) =>
    (await get<{ data: ReconciledLine[] }>(`/api/reconciliations/${one.id}/lines${heap ? `?heap=${heap}` : ''}`)).data
  const act = async (one: { id: string }, body: object) => {
    const reply = await house.call('POST', `/api/reconciliations/${one.id}/act`, { ...owner, body })
    assert.equal(reply.statusCode, 200, reply.body)
    return reply.json<{ act_id: string | null; changed: number; same: number; refused: number; data: ActedLine[] }>()
  }
  const rows = async (act_id: string | null) =>
    (await get<{ data: Row[] }>(`/api/history?act=${act_id}&limit=200`)).data
  return { owner, id, click, fire, send, compare, get, linesOf, act, rows }
}
type Workspace = Awaited<ReturnType<typeof workspace>>
type Row = { id: string; change: string; fields: { name: string; before: unknown; after: unknown }[] }

const TITLES = 'click_id,transaction_id,payout,currency,status,date'
/** A time as files have it, in seconds. */
const time = (ms = Date.now()) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
const line = (
  click: string,
  more: { tid?: string; payout?: string; currency?: string; status?: string; at?: string } = {},
) => {
  const { tid = '', payout = '10', currency = 'USD', status = 'approved', at = time() } = more
  return [click === '' ? '' : toWireId(click), tid, payout, currency, status, at].join(',')
}
const heaps = (counts: Partial<Reconciliation['heaps']>) => ({
  same: 0,
  missing_here: 0,
  missing_there: 0,
  other_amount: 0,
  other_status: 0,
  several: 0,
  wrong: 0,
  ...counts,
})
const briefly = (rows: readonly ReconciledLine[]) => rows.map(row => `${row.line} ${row.heap} ${row.matched_by}`)
const ownRate = (owner: SignedIn, usd_per_unit: string, from_day: string) =>
  house.call('PUT', '/api/rates/EUR', { ...owner, body: { from_day, usd_per_unit } })

async function sixClicks({ click, fire }: Workspace) {
  const [same, amount, status, there, here, none] = [
    await click(),
    await click(),
    await click(),
    await click(),
    await click(),
    newId(),
  ]
  await fire(same, { tid: 'T1', payout: '10' })
  await fire(amount, { tid: 'T2', payout: '10' })
  await fire(status, { tid: 'T3', payout: '10' })
  await fire(there, { tid: 'T4', payout: '7' })
  return { same, amount, status, there, here, none }
}

describe('a compared file', () => {
  test('sorts its lines into heaps, and names the conversions that it lacks', async () => {
    const work = await workspace()
    const { same, amount, status, there, here } = await sixClicks(work)
    const before = await tally(house.database, work.owner.org_id)
    const first = line(same, { tid: 'T1', at: time(Date.now() - MINUTE_MS) })
    const one = await work.compare([
      first,
      line(amount, { tid: 'T2', payout: '10.01' }),
      line(status, { tid: 'T3', status: 'rejected' }),
      line(here, { tid: 'T5' }),
      first,
      line('', { tid: '' }),
      line(same, { tid: 'T6', payout: 'x', status: 'strange' }),
    ])
    assert.deepEqual(
      one.heaps,
      heaps({ same: 2, missing_here: 1, missing_there: 1, other_amount: 1, other_status: 1, wrong: 2 }),
    )
    assert.equal(one.lines, 7)
    assert.deepEqual([one.shift_minutes, one.time_zone, one.warnings], [0, 'UTC', []])
    assert.deepEqual(one.totals, { here: '37', there: '30.01' })
    assert.equal(one.columns.at, 'date')
    const all = await work.linesOf(one)
    assert.deepEqual(briefly(all), [
      '2 same transaction_and_click',
      '3 other_amount transaction_and_click',
      '4 other_status transaction_and_click',
      '5 missing_here null',
      '6 same transaction_and_click',
      '7 wrong null',
      '8 wrong null',
      'null missing_there null',
    ])
    assert.equal(all[4]?.repeats_line, 2)
    assert.match(all[5]?.error ?? '', /neither a click id nor a transaction id/)
    assert.match(all[6]?.error ?? '', /status is strange.*; “x” is not/)
    assert.deepEqual([all[7]?.click_id, all[7]?.here?.amount], [toWireId(there), '7'])
    assert.deepEqual(all[1]?.there && [all[1].there.amount_usd, all[1].here?.amount], ['10.01', '10'])
    assert.deepEqual(await tally(house.database, work.owner.org_id), before)
    const page = `/api/reconciliations/${one.id}/lines?limit=3`
    const found: (number | null)[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const next: { data: ReconciledLine[]; next_cursor: string | null } = await work.get(
        cursor === '' ? page : `${page}&cursor=${cursor}`,
      )
      found.push(...next.data.map(row => row.line))
      cursor = next.next_cursor
    }
    assert.deepEqual(found, [2, 3, 4, 5, 6, 7, 8, null])
    const list = await work.get<{ data: Reconciliation[] }>(`/api/networks/${work.id}/reconciliations`)
    assert.deepEqual(
      list.data.map(({ id, heaps: of }) => [id, of]),
      [[one.id, one.heaps]],
    )
    const csv = (await house.call('GET', `/api/reconciliations/${one.id}/csv?heap=missing_there`, work.owner)).body
    assert.match(
      csv,
      /^line,heap,repeats_line,.*\r\n,"missing_there",,,"[0-9a-z]{26}","T4","[0-9a-z]{26}","7","approved",.*\r\n$/,
    )
  })

  test('is matched by transaction and click, then by transaction, then by a click with one paid conversion', async () => {
    const work = await workspace()
    const [both, lone, two] = [await work.click(), await work.click(), await work.click()]
    await work.fire(both, { tid: 'A1', payout: '10' })
    await work.fire(lone, { payout: '10' })
    await work.fire(two, { tid: 'B1', payout: '10' })
    await work.fire(two, { tid: 'B2', payout: '10' })
    const one = await work.compare([line(both, { tid: 'A1' }), line(lone), line(two), line(two, { tid: 'B9' })])
    assert.deepEqual(briefly(await work.linesOf(one)), [
      '2 same transaction_and_click',
      '3 same click',
      '4 several null',
      '5 missing_here null',
    ])
    const other = await work.compare([line('', { tid: 'A1' }), line(lone, { tid: 'L1' }), line(await work.click())])
    assert.deepEqual(briefly(await work.linesOf(other)).slice(0, 3), [
      '2 same transaction',
      '3 same click',
      '4 missing_here null',
    ])
    // The same transaction with two amounts: nobody can tell which of them counts.
    const twice = await work.compare([line(both, { tid: 'A1' }), line(both, { tid: 'A1', payout: '11' })])
    assert.deepEqual(briefly(await work.linesOf(twice, 'several')).length, 2)
  })

  test('of another network matches none of its conversions', async () => {
    const work = await workspace()
    const made = await house.call('POST', '/api/networks', {
      ...work.owner,
      body: { name: 'Other', template: 'keitaro' },
    })
    const { postback_url } = made.json<Network>()
    const click = await work.click()
    const path = new URL(postback_url).pathname
    await house.call('GET', `${path}?subid=${toWireId(click)}&status=sale&tid=T1&payout=10`)
    assert.deepEqual((await work.compare([line(click, { tid: 'T1' })])).heaps, heaps({ missing_here: 1 }))
  })

  test('in euros is compared by the rates of the conversions, else by those of the days', async () => {
    const work = await workspace()
    const [early, late] = [dayOf(Date.now() - 3 * DAY_MS), dayOf(Date.now())]
    await ownRate(work.owner, '2', late)
    await ownRate(work.owner, '1.5', early)
    const [booked, dollars, missing] = [await work.click(), await work.click(), await work.click()]
    await work.fire(booked, { tid: 'T1', payout: '10', currency: 'EUR' })
    await work.fire(dollars, { tid: 'T2', payout: '15' })
    await ownRate(work.owner, '3', late)
    const at = `${early} 12:00:00`
    const one = await work.compare(
      [
        line(booked, { tid: 'T1', payout: '"10,005"', currency: '', at }),
        line(dollars, { tid: 'T2', payout: '"10,00"', currency: '', at }),
        line(missing, { tid: 'T3', payout: '"8,50"', currency: '', at }),
        line(missing, { tid: 'T4', payout: '"8,50"', currency: 'XAU', at }),
      ],
      { currency: 'EUR', time_zone: 'UTC' },
    )
    assert.deepEqual(one.heaps, heaps({ same: 2, missing_here: 1, wrong: 1 }))
    const rows = await work.linesOf(one)
    assert.deepEqual(
      rows.map(({ there }) => there?.amount_usd),
      ['20.01', '15', '12.75', null],
    )
    assert.match(rows[3]?.error ?? '', /no rate of XAU/)
    const done = await work.act(one, { heap: 'missing_here', act: 'record', dry_run: false })
    assert.equal(done.changed, 1)
    assert.equal((await readClick(house.database, work.owner.org_id, missing))?.revenue, '12.75')
    assert.deepEqual(
      (await work.get<Reconciliation>(`/api/reconciliations/${one.id}`)).heaps,
      heaps({ same: 3, wrong: 1 }),
    )
  })

  test('in a shifted zone is recognized and said', async () => {
    const work = await workspace()
    const clicks = [await work.click(), await work.click()]
    for (const [at, click] of clicks.entries()) await work.fire(click, { tid: `T${at}`, payout: '10' })
    const there = await work.click()
    await work.fire(there, { tid: 'T9', payout: '10' })
    const ahead = time(Date.now() + 3 * HOUR_MS)
    const lines = clicks.map((click, at) => line(click, { tid: `T${at}`, at: ahead }))
    const one = await work.compare(lines)
    assert.equal(one.shift_minutes, 180)
    assert.deepEqual(
      one.warnings.map(({ code, field }) => [code, field]),
      [['zone_shifted', 'time_zone']],
    )
    assert.equal(one.to, `${time(Date.parse(`${ahead.replace(' ', 'T')}Z`) - 3 * HOUR_MS).replace(' ', 'T')}.000Z`)
    // Not all are apart by the same.
    const mixed = await work.compare([...lines, line(there, { tid: 'T9', at: time() })])
    assert.deepEqual([mixed.shift_minutes, mixed.warnings], [0, []])
    const chosen = await work.compare(lines, { time_zone: 'Etc/GMT-3' })
    assert.deepEqual([chosen.shift_minutes, chosen.from, chosen.time_zone], [0, one.from, 'Etc/GMT-3'])
  })
})

describe('an act on a heap', () => {
  test('records what is missing once, on its clicks, and the same file finds it the same', async () => {
    const work = await workspace()
    const [named, lone, rejected, held] = [
      await work.click(),
      await work.click(),
      await work.click(),
      await work.click(),
    ]
    const unknown = newId()
    const file = [
      line(named, { tid: 'T1' }),
      line(lone, { payout: '4' }),
      line(unknown, { tid: 'T2' }),
      line(rejected, { tid: 'T3', status: 'rejected' }),
      line(held, { tid: 'T4', status: 'pending', payout: '3' }),
      line(named, { tid: 'T1' }).replace('approved', 'APPROVED'),
    ].slice(0, 5)
    const one = await work.compare(file)
    assert.deepEqual(one.heaps, heaps({ missing_here: 5 }))
    const before = await tally(house.database, work.owner.org_id)
    const wanted = { heap: 'missing_here', act: 'record' }
    const dry = await work.act(one, { ...wanted, dry_run: true })
    assert.deepEqual(await tally(house.database, work.owner.org_id), before)
    const done = await work.act(one, { ...wanted, dry_run: false })
    assert.deepEqual([done.changed, done.same, done.refused], [3, 0, 2])
    assert.equal(dry.act_id, null)
    assert.deepEqual(
      dry.data,
      done.data.map(row => ({ ...row, made_id: null })),
    )
    assert.deepEqual(
      done.data.map(({ line: number, fate, code }) => [number, fate, code]),
      [
        [2, 'changes', null],
        [3, 'changes', null],
        [4, 'refused', 'click_not_found'],
        [5, 'refused', 'nothing_to_record'],
        [6, 'changes', null],
      ],
    )
    assert.deepEqual(done.data[4]?.fields, [
      { name: 'status', before: null, after: 'pending' },
      { name: 'amount', before: null, after: '3' },
    ])
    const events = await work.get<{ data: { nonce: string; status: string; amount: string }[] }>('/api/events')
    assert.deepEqual(events.data.map(({ nonce, status, amount }) => `${nonce} ${status} ${amount}`).sort(), [
      'T1 approved 10',
      'T4 pending 3',
      `reconcile-${toWireId(lone)} approved 4`,
    ])
    assert.equal((await tally(house.database, work.owner.org_id)).charges, 3)
    const again = await work.compare(file)
    assert.deepEqual(again.heaps, heaps({ same: 3, missing_here: 2 }))
    assert.equal((await work.act(one, { ...wanted, dry_run: false })).changed, 0)
    const rows = await work.rows(done.act_id)
    assert.deepEqual(
      rows.map(({ change }) => change),
      ['created', 'created', 'created'],
    )
    // The whole act is put back: rejected, with a reason, and charged no more.
    const undone = await house.call('POST', `/api/history/${rows[0]?.id}/undo`, {
      ...work.owner,
      body: { whole_act: true },
    })
    assert.equal(undone.statusCode, 200, undone.body)
    const after = await work.get<{ data: { id: string; status: string }[] }>('/api/events')
    assert.deepEqual(
      after.data.map(({ status }) => status),
      ['rejected', 'rejected', 'rejected'],
    )
    const history = await work.get<{ data: { reason: string }[] }>(`/api/events/${after.data[0]?.id}/revisions`)
    assert.equal(history.data[0]?.reason, 'undone')
    assert.deepEqual(await auditBooks(house.database.reads, work.owner.org_id), [])
    // And that is put back too.
    const back = undone.json<{ data: Row[] }>().data[0]
    const redone = await house.call('POST', `/api/history/${back?.id}/undo`, {
      ...work.owner,
      body: { whole_act: true },
    })
    assert.equal(redone.statusCode, 200, redone.body)
    assert.deepEqual((await work.compare(file)).heaps, heaps({ same: 3, missing_here: 2 }))
  })

  test('revises amounts and statuses as one, leaves lines out, and is put back', async () => {
    const work = await workspace()
    const clicks = [await work.click(), await work.click(), await work.click()]
    for (const [at, click] of clicks.entries()) await work.fire(click, { tid: `T${at}`, payout: '10' })
    const file = [
      line(clicks[0] ?? '', { tid: 'T0', payout: '12.5' }),
      line(clicks[1] ?? '', { tid: 'T1', payout: '9' }),
      line(clicks[2] ?? '', { tid: 'T2', status: 'trash' }),
    ]
    const one = await work.compare(file)
    const revise = { act: 'revise', dry_run: false }
    const amounts = await work.act(one, { ...revise, heap: 'other_amount', leave_out: [3] })
    assert.deepEqual(
      amounts.data.map(({ line: number, fields }) => [number, fields]),
      [[2, [{ name: 'amount', before: '10', after: '12.5' }]]],
    )
    const statuses = await work.act(one, { ...revise, heap: 'other_status' })
    assert.equal(statuses.changed, 1)
    const now = await work.get<Reconciliation>(`/api/reconciliations/${one.id}`)
    assert.deepEqual(now.heaps, heaps({ same: 2, other_amount: 1 }))
    const [row] = await work.rows(amounts.act_id)
    assert.deepEqual(row?.fields, [{ name: 'amount', before: '10', after: '12.5' }])
    for (const act_id of [amounts.act_id, statuses.act_id]) {
      const [first] = await work.rows(act_id)
      const undone = await house.call('POST', `/api/history/${first?.id}/undo`, {
        ...work.owner,
        body: { whole_act: true },
      })
      assert.equal(undone.statusCode, 200, undone.body)
    }
    assert.deepEqual(
      (await work.get<Reconciliation>(`/api/reconciliations/${one.id}`)).heaps,
      heaps({ other_amount: 2, other_status: 1 }),
    )
  })

  test('of two people at once records each conversion once', async () => {
    const work = await workspace()
    const clicks = await seedClicks(house.database, work.owner.org_id, 20)
    const one = await work.compare(clicks.map((click, at) => line(click, { tid: `R${at}` })))
    const body = { heap: 'missing_here', act: 'record', dry_run: false }
    const both = await Promise.all([work.act(one, body), work.act(one, body)])
    assert.equal(both[0].changed + both[1].changed, 20)
    assert.equal((await tally(house.database, work.owner.org_id)).events, 20)
  })
})

describe('reconciling refuses', () => {
  test('files without titles, lines, text or a size that is allowed', async () => {
    const { send } = await workspace()
    const many = `${TITLES}\n`
    for (const file of [
      '',
      'hello',
      TITLES,
      'a,b\n1,2',
      'click_id,payout\n"x,1',
      Buffer.from('click_id,x\n\xff,1', 'latin1'),
    ])
      assert.equal((await send(file)).data()['code'], 'reconcile_file_unreadable', String(file))
    const named = await send(`${many}x,1,1,,,`, { columns: '{"amount":"Geld"}' })
    assert.match(named.body, /no line has the columns “Geld”/)
    assert.equal((await send(`${many}x`, { columns: '{' })).statusCode, 400)
    assert.equal((await send(Buffer.alloc(33_554_433, 'x'))).statusCode, 413)
  })

  test('members, keys, wrong acts, and what is another organization’s', async () => {
    const [work, stranger] = [await workspace(), await workspace()]
    const one = await work.compare([line(await work.click(), { tid: 'T1' })])
    const wrong = await house.call('POST', `/api/reconciliations/${one.id}/act`, {
      ...work.owner,
      body: { heap: 'missing_here', act: 'revise', dry_run: true },
    })
    assert.equal(wrong.statusCode, 400)
    assert.equal((await work.send('x', {}, stranger.owner)).statusCode, 404)
    for (const url of ['', '/lines', '/csv'])
      assert.equal((await house.call('GET', `/api/reconciliations/${one.id}${url}`, stranger.owner)).statusCode, 404)
    assert.equal((await house.call('GET', `/api/networks/${work.id}/reconciliations`, stranger.owner)).statusCode, 404)
    const act = { heap: 'missing_here', act: 'record', dry_run: false }
    assert.equal(
      (await house.call('POST', `/api/reconciliations/${one.id}/act`, { ...stranger.owner, body: act })).statusCode,
      404,
    )
    const cursor = await house.call('GET', `/api/reconciliations/${one.id}/lines?cursor=x_y`, work.owner)
    assert.equal(cursor.data()['code'], 'invalid_cursor')
  })

  test('files that are older than 90 days, because they are deleted', async () => {
    const work = await workspace()
    const one = await work.compare([line(await work.click(), { tid: 'T1' })])
    await dropOldReconciliations(house.database.worker, Date.now() + 89 * DAY_MS)
    assert.equal((await work.linesOf(one)).length, 1)
    await dropOldReconciliations(house.database.worker, Date.now() + 91 * DAY_MS)
    assert.equal((await house.call('GET', `/api/reconciliations/${one.id}`, work.owner)).statusCode, 404)
    const { rows } = await house.database.reads.query('select 1 from reconciliation_lines where org_id = $1', [
      work.owner.org_id,
    ])
    assert.equal(rows.length, 0)
  })
})
