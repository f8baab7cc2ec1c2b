// Revisions through the gate: their effects, what they never undo, and their refusals.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { newId, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { readClick, seedBot, seedPlainCampaign, seedClick, seedRule, tally } from '../../../tests/support/intake.ts'
import { openQueue } from '../../../tests/support/organization-queue.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import { DAY_MS } from '../../contract/days.ts'
import { timeOfId, toUuid } from '../../contract/ids.ts'
import { MOST_REVISIONS } from '../../contract/revisions.ts'
import { auditBooks } from '../../reading/audit/audit.ts'
import { openFolder } from '../../reading/reports/fold.ts'
import { recount } from '../../reading/reports/recount.ts'
import { COUNTERS } from '../counters/deltas.ts'

let house: TestHouse
let folder: ReturnType<typeof openFolder>
before(async () => {
  house = await useHouse()
  // Never automatically.
  folder = openFolder(house.ground, DAY_MS)
})
after(async () => {
  await folder.close()
  await house.end()
})

const idOf = (id: string): string => toUuid(id) ?? assert.fail()

type Place = SignedIn & { click: string; event_id: string; campaign_id: string }

/** An organization with a deposit of 50 on a click, and a delivery to a rule. */
async function place(payout: string | null = '50', click: { test?: boolean } = {}): Promise<Place> {
  const owner = await seedSignedIn(house)
  await seedRule(house.database, owner.org_id, { event_type: 'deposit' })
  const campaign_id = await seedPlainCampaign(house.database, owner.org_id)
  const id = await seedClick(house.database, owner.org_id, { campaign_id, sub1: 'zone 7', ...click })
  return { ...owner, campaign_id, click: id, event_id: await send(owner, id, { payout }) }
}

async function send(owner: SignedIn, click: string, more: object = {}): Promise<string> {
  const body = { clickId: toWireId(click), type: 'deposit', nonce: 'T1', ...more }
  const answer = await house.call('POST', '/api/events', { cookie: owner.cookie, body })
  assert.equal(answer.statusCode, 201, answer.body)
  return String(answer.data()['id'])
}

const say = ({ cookie }: Pick<SignedIn, 'cookie'>, event_id: string, body: object) =>
  house.call('POST', `/api/events/${event_id}/revisions`, { cookie, body })

async function said(here: Place, body: object) {
  const answer = await say(here, here.event_id, body)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.data()
}

const revenueOf = async ({ org_id, click }: Place) => (await readClick(house.database, org_id, click))?.revenue ?? null

type Figures = {
  revenue: string
  deposit: number
  approved: number
  pending: number
  rejected: number
  revenue_pending: string
}
type Report = { rows: Figures[]; totals: Figures }
const DIMENSIONS = ['campaign', 'geo', 'sub1', 'offer', 'day'] as const

const told = ({ revenue, deposit, approved, pending, rejected, revenue_pending }: Figures) =>
  `${Number(revenue)} of ${deposit}: ${approved} approved, ${pending} pending (${Number(revenue_pending)}), ${rejected} rejected`

/**
 * Compares the rows and totals of every dimension with a recount of the clicks: over whole days, and over a window whose ends are read
 * from the clicks; before and after the counters are folded.
 */
async function reported({ org_id, cookie, click }: Place): Promise<string[]> {
  const made = timeOfId(click)
  const windows = [
    [made - DAY_MS, made + DAY_MS],
    [made - 1000, made + 1000],
  ] as const
  const found = new Set<string>()
  for (const isFolded of [false, true]) {
    if (isFolded) await folder.foldAll()
    for (const [from, to] of windows) {
      const window = `date_from=${new Date(from).toISOString()}&date_to=${new Date(to).toISOString()}`
      for (const dimension of DIMENSIONS) {
        const answer = await house.call('GET', `/api/report?dimension=${dimension}&${window}`, { cookie })
        const { rows, totals } = answer.json<Report>()
        const counted = await recount(house.database.reads, org_id, from, to, dimension)
        assert.deepEqual(rows.map(told), counted.map(told))
        for (const one of [...rows, totals]) found.add(told(one))
      }
    }
    assert.deepEqual(await auditBooks(house.database.reads, org_id), [])
  }
  return [...found]
}

type History = {
  status: string
  amount: string
  payout: string | null
  hold_until: string | null
  data: {
    seq: number
    status: string
    amount: string
    reason: string | null
    source: string
    actor_name: string | null
  }[]
}
const historyOf = async ({ cookie }: Pick<SignedIn, 'cookie'>, event_id: string) =>
  (await house.call('GET', `/api/events/${event_id}/revisions`, { cookie })).json<History>()

/** Rewrites sheets that are not folded yet as the previous version writes them: without half hours and verdicts. */
const AS_BEFORE_COUNTED = `
  with taken as (delete from counter_sheet where org_id = $1 returning id, changes)
  insert into report_sheet (org_id, id, changes)
  select $1, id, array(
    select row(org_id, day, campaign_id, offer_id, geo, sub1, ${COUNTERS.map(name => `coalesce(${name}, 0)`).join(', ')},
      coalesce(revenue, 0))::report_change
    from unnest(changes)) from taken`

/** An organization after `make`, whose `count` sheets are as the previous version leaves them. Starts again if the house has folded one meanwhile. */
async function placeOfBefore(count: number, make: (here: Place) => Promise<unknown>): Promise<Place> {
  for (let tries = 1; ; tries += 1) {
    const here = await place()
    await make(here)
    const { rowCount } = await house.database.worker.query(AS_BEFORE_COUNTED, [here.org_id])
    if (rowCount === count || tries === 10) return here
  }
}

describe('a verdict on a conversion', () => {
  test('moves its revenue in every dimension of the report, and nothing else', async () => {
    const here = await place()
    assert.deepEqual(await reported(here), ['50 of 1: 1 approved, 0 pending (0), 0 rejected'])
    const [before, was] = [
      await tally(house.database, here.org_id),
      await readClick(house.database, here.org_id, here.click),
    ]
    assert.deepEqual(await said(here, { status: 'rejected', reason: 'fraud' }), {
      event_id: here.event_id,
      status: 'rejected',
      amount: '0',
      seq: 1,
      unchanged: false,
    })
    assert.deepEqual(await readClick(house.database, here.org_id, here.click), { ...was, revenue: null })
    assert.deepEqual(await reported(here), ['0 of 1: 0 approved, 0 pending (0), 1 rejected'])
    assert.equal((await said(here, { status: 'approved' }))['amount'], '50')
    assert.deepEqual(await reported(here), ['50 of 1: 1 approved, 0 pending (0), 0 rejected'])
    await said(here, { status: 'approved', amount: 20 })
    assert.deepEqual(await reported(here), ['20 of 1: 1 approved, 0 pending (0), 0 rejected'])
    await said(here, { status: 'approved', amount: '70.123456', currency: 'USD' })
    assert.equal(await revenueOf(here), '70.123456')
    await said(here, { status: 'pending', amount: '0.5' })
    assert.deepEqual(await reported(here), ['0 of 1: 0 approved, 1 pending (0.5), 0 rejected'])
    assert.equal((await said(here, { status: 'approved' }))['amount'], '0.5')
    await said(here, { status: 'refunded' })
    await said(here, { status: 'chargeback' })
    assert.equal(await revenueOf(here), null)
    assert.deepEqual(await tally(house.database, here.org_id), before)
    assert.equal((await readClick(house.database, here.org_id, here.click))?.status, was?.status)
  })

  test('said twice is one revision, and the history names who said it and why', async () => {
    const here = await place()
    assert.equal((await said(here, { status: 'approved' }))['unchanged'], true)
    assert.equal((await said(here, { status: 'approved', amount: '50.0' }))['seq'], 0)
    await said(here, { status: 'rejected', reason: ' duplicate ' })
    assert.deepEqual(await said(here, { status: 'rejected', reason: 'again' }), {
      event_id: here.event_id,
      status: 'rejected',
      amount: '0',
      seq: 1,
      unchanged: true,
    })
    const { data, ...standing } = await historyOf(here, here.event_id)
    assert.deepEqual(standing, {
      event_id: here.event_id,
      status: 'rejected',
      amount: '0',
      payout: '50',
      hold_until: null,
    })
    const [{ actor_name, ...only }, ...others] = data as [History['data'][number]]
    const { rows } = await house.database.reads.query<{ name: string }>('select name from users where id = $1', [
      here.user_id,
    ])
    assert.equal(actor_name, rows[0]?.name)
    assert.deepEqual(
      [only.seq, only.status, only.amount, only.reason, only.source],
      [1, 'rejected', '0', 'duplicate', 'dashboard'],
    )
    assert.deepEqual(others, [])
  })

  test('stays when the conversion is sent again', async () => {
    const here = await place()
    await said(here, { status: 'rejected' })
    assert.equal(await send(here, here.click, { payout: '50' }), here.event_id)
    assert.equal(await revenueOf(here), null)
    assert.deepEqual(await reported(here), ['0 of 1: 0 approved, 0 pending (0), 1 rejected'])
  })

  test('leaves the other conversions of the click', async () => {
    const here = await place()
    await send(here, here.click, { payout: '7', nonce: 'T2' })
    await said(here, { status: 'rejected' })
    assert.deepEqual(await reported(here), ['7 of 1: 1 approved, 0 pending (0), 1 rejected'])
  })

  test('of a test conversion is kept, and in no report', async () => {
    const here = await place('50', { test: true })
    await said(here, { status: 'rejected' })
    assert.equal(await revenueOf(here), null)
    const answer = await house.call('GET', '/api/report?dimension=day&date_from=2026-01-01&date_to=2026-01-02', here)
    assert.equal(answer.json<Report>().totals.revenue, '0.00')
    assert.deepEqual(await auditBooks(house.database.reads, here.org_id), [])
  })

  test('of fifty at once from several processes leaves the figure of the last', async () => {
    const here = await place()
    const queues = [openQueue(house.database), openQueue(house.database), openQueue(house.database)]
    const wanted = Array.from({ length: 50 }, (_, at) => at)
    const answers = await Promise.all(
      wanted.map(async at => {
        const queue = queues[at % queues.length] ?? assert.fail()
        return await queue.revise({
          kind: 'revision',
          org_id: here.org_id,
          click_id: here.click,
          of: { event_id: idOf(here.event_id) },
          status: at % 5 === 0 ? 'rejected' : 'approved',
          amount: at % 5 === 0 ? undefined : String(at),
          reason: null,
          source: 'dashboard',
          network_id: null,
          actor: here.user_id,
          arrived_at: performance.now(),
        })
      }),
    )
    await Promise.all(queues.map(queue => queue.close()))
    const { data, amount } = await historyOf(here, here.event_id)
    assert.equal(data.length, answers.filter(({ isNew }) => isNew).length)
    assert.deepEqual(
      data.map(({ seq }) => seq),
      Array.from({ length: data.length }, (_, at) => data.length - at),
    )
    assert.equal(data[0]?.amount, amount)
    assert.equal((await revenueOf(here)) ?? '0', amount)
    await reported(here)
  })

  test('and a new conversion at once, many of both, leave what a recount says', async () => {
    const here = await place()
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        at % 2 === 0
          ? send(here, here.click, { payout: '3', nonce: `N${at}` })
          : said(here, { status: 'approved', amount: at }),
      ),
    )
    const { amount } = await historyOf(here, here.event_id)
    assert.equal(Number(await revenueOf(here)), 30 + Number(amount))
    await reported(here)
  })

  test('that cannot be counted is not there either: all of it or nothing', async () => {
    const here = await place()
    for (const [table, harm] of [
      ['counter_sheet', 'org_id'],
      ['event_revisions', 'org_id'],
      ['clicks', `case when revenue is null then org_id else 0 end`],
    ]) {
      const onTable = (what: string) => sql.raw(`alter table ${table} ${what}`).execute(house.database.schema)
      await onTable(`add constraint harmed check (${harm} <> ${here.org_id}) not valid`)
      const answer = await say(here, here.event_id, { status: 'pending' })
      await onTable('drop constraint harmed')
      assert.equal(answer.statusCode, 500, table)
      assert.deepEqual((await historyOf(here, here.event_id)).data, [])
      assert.deepEqual(await reported(here), ['50 of 1: 1 approved, 0 pending (0), 0 rejected'])
    }
    await said(here, { status: 'pending' })
    assert.deepEqual(await reported(here), ['0 of 1: 0 approved, 1 pending (50), 0 rejected'])
  })

  test('is refused when it is the hundred and first', async () => {
    const here = await place()
    for (let at = 1; at <= MOST_REVISIONS; at += 1)
      await house.database.worker.query(
        `insert into event_revisions (org_id, event_id, seq, status, amount, source, created_at)
        values ($1, $2, $3, 'approved', 50, 'dashboard', now())`,
        [here.org_id, idOf(here.event_id), at],
      )
    const answer = await say(here, here.event_id, { status: 'rejected' })
    assert.deepEqual([answer.statusCode, answer.data()['code']], [409, 'too_many_revisions'])
    assert.equal((await said(here, { status: 'approved' }))['unchanged'], true)
    assert.deepEqual(await reported(here), ['50 of 1: 1 approved, 0 pending (0), 0 rejected'])
  })

  test('is refused where the click is no longer kept, and changes nothing', async () => {
    const here = await place()
    await house.database.worker.query('delete from clicks where org_id = $1 and id = $2', [here.org_id, here.click])
    const answer = await say(here, here.event_id, { status: 'rejected' })
    assert.deepEqual([answer.statusCode, answer.data()['code']], [409, 'click_not_kept'])
    assert.deepEqual((await historyOf(here, here.event_id)).data, [])
  })

  test('that does not fit is refused with what to do', async () => {
    const here = await place()
    const wrong: [object, RegExp][] = [
      [{}, /status/],
      [{ status: 'maybe' }, /status/],
      [{ status: 'rejected', amount: 5 }, /amount: is only allowed with approved and pending/],
      [{ status: 'approved', amount: -5 }, /amount/],
      [{ status: 'approved', amount: 1_000_001 }, /amount/],
      [{ status: 'approved', amount: 5, currency: 'E!' }, /currency: must be a currency code/],
      [{ status: 'approved', amount: 1_000_001, currency: 'us$' }, /amount/],
      [{ status: 'rejected', reason: 'x'.repeat(201) }, /reason/],
    ]
    for (const [body, words] of wrong) {
      const answer = await say(here, here.event_id, body)
      assert.equal(answer.statusCode, 400, answer.body)
      assert.match(String(answer.data()['error']), words)
    }
    assert.deepEqual((await historyOf(here, here.event_id)).data, [])
  })

  test('is for admins of the organization; members read, keys do neither, others find nothing', async () => {
    const [here, other] = [await place(), await place()]
    const member = await seedSignedIn(house, { place: here, role: 'member' })
    const { secret } = await seedKey(house.database, here, { rights: ['events'] })
    const path = `/api/events/${here.event_id}/revisions`
    assert.equal((await say(member, here.event_id, { status: 'rejected' })).data()['code'], 'role_forbidden')
    assert.equal((await house.call('GET', path, { cookie: member.cookie })).statusCode, 200)
    for (const method of ['GET', 'POST'] as const) {
      const body = method === 'POST' ? { status: 'rejected' } : undefined
      const answer = await house.call(method, path, { key: secret, body })
      assert.deepEqual([answer.statusCode, answer.data()['code']], [403, 'api_key_resource_forbidden'])
    }
    const csv = `event_id,status\n${here.event_id},rejected`
    const file = await house.call('POST', '/api/events/revisions/import', { key: secret, body: { csv, dry_run: true } })
    assert.equal(file.data()['code'], 'api_key_resource_forbidden')
    assert.equal((await say(other, here.event_id, { status: 'rejected' })).statusCode, 404)
    assert.equal((await house.call('GET', path, { cookie: other.cookie })).statusCode, 404)
    assert.equal((await say(here, toWireId(newId()), { status: 'rejected' })).statusCode, 404)
    assert.deepEqual(await reported(here), ['50 of 1: 1 approved, 0 pending (0), 0 rejected'])
  })
})

test('the log is narrowed by how conversions stand, and the trace of the click tells what was said of them', async () => {
  const here = await place()
  const second = await send(here, here.click, { payout: '8', nonce: 'T2' })
  await said(here, { status: 'rejected', reason: 'fraud' })
  await said(here, { status: 'approved', amount: 20 })
  await said(here, { status: 'refunded' })
  type Row = { id: string; status: string; amount: string; revisions: number; history: { status: string }[] }
  const listed = async (query: string) => {
    const { data } = (await house.call('GET', `/api/events?${query}`, here)).json<{ data: Row[] }>()
    return data.map(({ id, status, amount, revisions }) => `${id} ${status} ${amount} ${revisions}`)
  }
  const [taken, kept] = [`${here.event_id} refunded 0 3`, `${second} approved 8 0`]
  assert.deepEqual(await listed(''), [kept, taken])
  assert.deepEqual(await listed('status=refunded'), [taken])
  assert.deepEqual(await listed('status=approved'), [kept])
  assert.deepEqual(await listed('status=rejected'), [])
  assert.deepEqual(await listed('status=refunded&q=T1'), [taken])
  assert.equal((await house.call('GET', '/api/events?status=maybe', here)).statusCode, 400)
  const trace = await house.call('GET', `/api/clicks/${toWireId(here.click)}/trace`, here)
  assert.deepEqual(
    trace.json<{ events: Row[] }>().events.map(({ history }) => history.map(({ status }) => status)),
    [['refunded', 'approved', 'rejected'], []],
  )
})

describe('a file of verdicts', () => {
  const send_file = ({ cookie }: Pick<SignedIn, 'cookie'>, csv: string, dry_run = false) =>
    house.call('POST', '/api/events/revisions/import', { cookie, body: { csv, dry_run } })
  type Answer = {
    lines: { line: number; fate: string; before: unknown; becomes: unknown; error: string | null }[]
    changed: number
    wrong: number
    difference: string
  }

  test('is looked through in a dry run, then taken in, and the same file again changes nothing', async () => {
    const here = await place()
    const second = await send(here, here.click, { payout: '8', nonce: 'T2' })
    const [bare, click] = [await seedClick(house.database, here.org_id), toWireId(here.click)]
    const third = await send(here, bare, { payout: '10', nonce: undefined })
    const csv = [
      'Click ID;Transaction ID;Event ID;Status;Amount;Currency;Reason',
      `${click};T1;;rejected;;;"bad; very"`,
      `;;${second};approved;5;usd;`,
      `${toWireId(bare)};;;Hold;;;`,
    ].join('\r\n')
    const dry = (await send_file(here, csv, true)).json<Answer>()
    const was = { status: 'approved', amount: '50' }
    assert.deepEqual(
      dry.lines.map(({ line, fate, before, becomes }) => ({ line, fate, before, becomes })),
      [
        { line: 2, fate: 'changes', before: was, becomes: { status: 'rejected', amount: '0' } },
        { line: 3, fate: 'changes', before: { ...was, amount: '8' }, becomes: { ...was, amount: '5' } },
        { line: 4, fate: 'changes', before: { ...was, amount: '10' }, becomes: { status: 'pending', amount: '10' } },
      ],
    )
    assert.deepEqual([dry.changed, dry.wrong, dry.difference], [3, 0, '-63'])
    assert.equal((await historyOf(here, here.event_id)).data.length, 0)
    assert.deepEqual((await send_file(here, csv)).json<Answer>(), { ...dry, dry_run: false })
    const { data } = await historyOf(here, here.event_id)
    assert.deepEqual([data.length, data[0]?.source, data[0]?.reason], [1, 'import', 'bad; very'])
    const again = (await send_file(here, csv)).json<Answer>()
    assert.deepEqual([again.changed, again.difference], [0, '0'])
    assert.equal((await historyOf(here, third)).status, 'pending')
    assert.deepEqual(await auditBooks(house.database.reads, here.org_id), [])
  })

  test('with a wrong line changes nothing and says which', async () => {
    const [here, other] = [await place(), await place()]
    await send(here, here.click, { payout: '8', nonce: 'T2' })
    const click = toWireId(here.click)
    const csv = [
      'event_id,click_id,transaction_id,status,amount',
      `${here.event_id},,,rejected,`,
      `${other.event_id},,,rejected,`,
      `,${click},,rejected,`,
      `,${click},T3,rejected,`,
      `,${click},T1,approved,1`,
      `,,,rejected,`,
      `nobody,,,rejected,`,
      `,${click},T2,maybe,`,
      `,${click},T2,refunded,3`,
      `,${click},T2,approved,1,000`,
    ].join('\n')
    const dry = (await send_file(here, csv, true)).json<Answer>()
    assert.deepEqual(
      dry.lines.flatMap(({ line, error }) => (error === null ? [] : [`${line} ${error.slice(0, 44)}`])),
      [
        '3 no such conversion is recorded',
        '4 the click has several conversions: name one ',
        '5 no such conversion is recorded',
        '6 line 2 names the same conversion',
        '7 it has neither an event_id nor a click_id',
        '8 “nobody” is not an event id',
        '9 status: must be one of approved, pending, re',
        '10 amount: is only allowed with approved and pe',
        '11 it has 6 cells for 5 columns: put quotes aro',
      ],
    )
    const answer = await send_file(here, csv)
    assert.deepEqual([answer.statusCode, answer.data()['code']], [400, 'revision_lines_wrong'])
    assert.match(String(answer.data()['error']), /^line 3: no such conversion/)
    assert.equal((await historyOf(here, here.event_id)).data.length, 0)
    for (const broken of [
      'hello',
      'event_id,status\n',
      'status\nrejected',
      'event_id,status\n"x',
      `event_id,status\n${'x,rejected\n'.repeat(1001)}`,
    ])
      assert.equal((await send_file(here, broken)).data()['code'], 'revision_file_unreadable', broken.slice(0, 30))
  })

  test('of many lines goes in at once', async () => {
    const count = process.env['SLUICE_TEST_ALL'] ? 1000 : 200
    const here = await place()
    const queue = openQueue(house.database)
    const events = await Promise.all(
      Array.from({ length: count - 1 }, (_, at) =>
        queue.send(here.org_id, here.click, { payout: '1', nonce: `N${at}` }),
      ),
    )
    await queue.close()
    const ids = [here.event_id, ...events.map(({ event }) => toWireId(event.id))]
    const csv = `event_id,status\n${ids.map(id => `${id},rejected`).join('\n')}`
    const answer = await send_file(here, csv)
    assert.equal(answer.statusCode, 200, answer.body)
    assert.deepEqual([answer.json<Answer>().changed, answer.json<Answer>().difference], [count, `-${count + 49}`])
    assert.equal(await revenueOf(here), null)
    assert.deepEqual(await reported(here), [`0 of 1: 0 approved, 0 pending (0), ${count} rejected`])
  })
})

test('conversions of the version before are counted once something is said of one of their click', async () => {
  const here = await placeOfBefore(3, async made => {
    await send(made, made.click, { payout: '7', nonce: 'T2' })
    // As that version writes them: revenue, but none of the four counts.
    await house.database.worker.query(
      `update clicks set approved = null, pending = null, rejected = null, revenue_pending = null where org_id = $1`,
      [made.org_id],
    )
  })
  assert.deepEqual(await reported(here), ['57 of 1: 0 approved, 0 pending (0), 0 rejected'])
  await send(here, here.click, { payout: '1', nonce: 'T3' })
  assert.deepEqual(await reported(here), ['58 of 1: 0 approved, 0 pending (0), 0 rejected'])
  await said(here, { status: 'rejected' })
  assert.deepEqual(await reported(here), ['8 of 1: 2 approved, 0 pending (0), 1 rejected'])
  await send(here, here.click, { payout: '1', nonce: 'T4' })
  assert.deepEqual(await reported(here), ['9 of 1: 3 approved, 0 pending (0), 1 rejected'])
})

test('a conversion that the version before added beside counted ones is counted when what is so already is said', async () => {
  const here = await placeOfBefore(1, async made => {
    await folder.foldAll()
    await send(made, made.click, { payout: '7', nonce: 'T2' })
    // As that version writes it: revenue by day, and nothing newer.
    await house.database.worker.query('update clicks set approved = 1 where org_id = $1', [made.org_id])
  })
  const wrong = await auditBooks(house.database.reads, here.org_id)
  assert.deepEqual(
    wrong.map(({ check }) => check),
    ['approved, pending and rejected are what its conversions are'],
  )
  assert.deepEqual(await said(here, { status: 'approved' }), {
    event_id: here.event_id,
    status: 'approved',
    amount: '50',
    seq: 0,
    unchanged: true,
  })
  assert.deepEqual(await reported(here), ['57 of 1: 2 approved, 0 pending (0), 0 rejected'])
})

test('a click takes more conversions than a small number holds', async () => {
  const here = await place()
  const most = 32_767
  await house.database.worker.query('update clicks set approved = $2, pending = $2, rejected = $2 where org_id = $1', [
    here.org_id,
    most,
  ])
  await send(here, here.click, { payout: '7', nonce: 'T2' })
  const { rows } = await house.database.reads.query('select approved, revenue::float from clicks where org_id = $1', [
    here.org_id,
  ])
  assert.deepEqual(rows, [{ approved: most + 1, revenue: 57 }])
})

test('a start that is revised keeps its verdict when its first payout comes', async () => {
  const owner = await seedSignedIn(house)
  const bot_id = await seedBot(house.database, owner.org_id, 'some_bot')
  const click = await seedClick(house.database, owner.org_id, { bot_id })
  const queue = openQueue(house.database)
  const { event } = await queue.recordStart({ org_id: owner.org_id, click_id: click, bot_id, telegram_user_id: '7' })
  assert.equal((await say(owner, toWireId(event.id), { status: 'approved', amount: 4 })).statusCode, 200)
  const body = { type: 'bot_start', payout: '9', nonce: 'mine', payload: { telegram_user_id: 7 } } as const
  assert.equal((await queue.send(owner.org_id, click, body)).event.payout, '9')
  await queue.close()
  assert.equal((await readClick(house.database, owner.org_id, click))?.revenue, '4')
  const { payout, amount } = await historyOf(owner, toWireId(event.id))
  assert.deepEqual([payout, amount], ['9', '4'])
  assert.deepEqual(await auditBooks(house.database.reads, owner.org_id), [])
})
