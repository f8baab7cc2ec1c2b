// Acts of many rows from one file, put back by one write of their room: all or none, with the checks of single rows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { type TestHouse, useHouse } from '../../../tests/support/house.ts'
import { seedSignedIn } from '../../../tests/support/people.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

type Row = { id: string; object_name: string; change: string; undone_by_id: string | null }

async function workspace() {
  const { cookie } = await seedSignedIn(house)
  const call = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: unknown) => {
    const reply = await house.call(method, url, { cookie, ...(body === undefined ? {} : { body }) })
    return { status: reply.statusCode, said: reply.data(), data: reply.data()['data'] as Row[] | undefined }
  }
  const campaign = (
    await call('POST', '/api/campaigns', { name: 'C', destination: { type: 'redirect', url: 'https://x.example/' } })
  ).said
  const history = async (query: string) => (await call('GET', `/api/history?${query}`)).data ?? []
  const putBack = (row: Row | undefined, leave_out: string[] = []) =>
    call('POST', `/api/history/${row?.id}/undo`, { whole_act: true, leave_out })
  return { call, campaign: { id: String(campaign['id']), key: String(campaign['key']) }, history, putBack }
}

/** How many statements that name the table are sent while `work` runs. */
async function statementsOn<T>(table: string, work: () => Promise<T>): Promise<{ result: T; sent: number }> {
  const prototype = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown }
  const { query } = prototype
  let sent = 0
  prototype.query = function (...args) {
    const [asked] = args as [string | { text?: string } | undefined]
    if ((typeof asked === 'string' ? asked : asked?.text)?.includes(table)) sent += 1
    return query.apply(this, args)
  }
  try {
    return { result: await work(), sent }
  } finally {
    prototype.query = query
  }
}

test('a file of amounts is put back with few statements, with the currency of each, and put back again', async () => {
  const { call, campaign, history, putBack } = await workspace()
  await call('PUT', '/api/rates/EUR', { from_day: '2026-01-01', usd_per_unit: '1.25' })
  const lines = Array.from(
    { length: 150 },
    (_, at) => `${campaign.key},2026-11-02,zone ${at},1.5,${at % 2 ? 'EUR' : 'USD'}`,
  )
  const csv = ['campaign,day,sub1,amount,currency', ...lines].join('\n')
  assert.equal((await call('POST', '/api/ad-spend/import', { csv, dry_run: false })).said['changed'], 150)
  const spend = async () =>
    (await call('GET', '/api/ad-spend?date_from=2026-11-02&date_to=2026-11-03&limit=200')).said['data'] as {
      sub1: string
      amount: string
      original: { original_amount: string; currency: string } | null
    }[]
  const essence = async () =>
    (await spend()).map(({ sub1, amount, original }) => [sub1, amount, original?.currency ?? 'USD'])
  const imported = await essence()
  assert.equal(imported.length, 150)
  const [row] = await history('kind=ad_spend&limit=1')
  const { result: done, sent } = await statementsOn('ad_spend', () => putBack(row))
  assert.deepEqual([done.status, done.data?.length, (await spend()).length], [200, 150, 0])
  assert.ok(sent < 20, `${sent} statements`)
  const again = await putBack(done.data?.[0])
  assert.equal(again.status, 200, JSON.stringify(again.said))
  assert.deepEqual(await essence(), imported)
  assert.equal((await putBack(row)).said['code'], 'undone_before')
})

test('one amount that was changed since refuses the whole file, and is named', async () => {
  const { call, campaign, history, putBack } = await workspace()
  const csv = ['campaign,day,sub1,amount', ...['a', 'b', 'c'].map(sub1 => `${campaign.key},2026-11-02,${sub1},2`)].join(
    '\n',
  )
  await call('POST', '/api/ad-spend/import', { csv, dry_run: false })
  const written = await history('kind=ad_spend')
  await call('PUT', '/api/ad-spend', { campaign_id: campaign.id, day: '2026-11-02', sub1: 'b', amount: '3' })
  const refused = await putBack(written[0])
  assert.deepEqual([refused.status, refused.said['code']], [409, 'changed_since'])
  assert.match(String(refused.said['error']), /2026-11-02 \/ b: amount is "3" now/)
  assert.equal((await history('kind=ad_spend')).length, 4)
  const b = written.find(({ object_name }) => object_name.endsWith('/ b'))
  assert.equal((await putBack(written[0], [b?.id ?? ''])).data?.length, 2)
})

test('a rate that is gone refuses the whole file', async () => {
  const { call, campaign, history, putBack } = await workspace()
  await call('PUT', '/api/rates/XAU', { from_day: '2026-01-01', usd_per_unit: '2' })
  const csv = `campaign,day,sub1,amount,currency\n${campaign.key},2026-11-02,a,2,XAU\n${campaign.key},2026-11-02,b,2,USD`
  const imported = await call('POST', '/api/ad-spend/import', { csv, dry_run: false })
  assert.equal(imported.status, 200, JSON.stringify(imported.said))
  const undone = await putBack((await history('kind=ad_spend'))[0])
  assert.equal(undone.status, 200)
  await call('PUT', '/api/rates/XAU', { from_day: '2026-01-01', usd_per_unit: null })
  const refused = await putBack(undone.data?.[0])
  assert.deepEqual([refused.status, refused.said['code']], [422, 'rate_unknown'])
  assert.equal((await history('kind=ad_spend')).length, 4)
})

test('a list of left-out values is put back as one, or none of it', async () => {
  const { call, campaign, history, putBack } = await workspace()
  const list = `/api/campaigns/${campaign.id}/left-out`
  const values = async () => ((await call('GET', `${list}?limit=200`)).data ?? []).length
  const text = Array.from({ length: 100 }, (_, at) => `zone ${at}`).join('\n')
  await call('POST', `${list}/import`, {
    field: 'sub1',
    text,
    mode: 'add',
    dry_run: false,
    leads_to: { type: 'fallback' },
  })
  const written = await history('kind=left_out&limit=100')
  assert.equal(written.length, 100)
  await call('DELETE', `${list}?field=sub1&value=zone%207`)
  assert.deepEqual([(await putBack(written[0])).status, await values()], [409, 99])
  const seventh = written.find(({ object_name }) => object_name === 'sub1 = zone 7')
  const { result: done, sent } = await statementsOn('left_out_values', () => putBack(written[0], [seventh?.id ?? '']))
  assert.deepEqual([done.status, done.data?.length, await values()], [200, 99, 0])
  assert.ok(sent < 20, `${sent} statements`)
  const again = await putBack(done.data?.[0])
  assert.deepEqual([again.status, again.data?.length, await values()], [200, 99, 99])
})

test('left-out values of one act are put back in its transaction, with the other objects or not at all', async () => {
  const { call, campaign, history, putBack } = await workspace()
  const other = (
    await call('POST', '/api/campaigns', { name: 'D', destination: { type: 'redirect', url: 'https://y.example/' } })
  ).said
  const entries = [campaign.id, String(other['id'])].map(campaign_id => ({ campaign_id, field: 'sub1', value: 'zone' }))
  assert.equal((await call('POST', '/api/left-out', { entries })).said['added'], 2)
  const written = await history('kind=left_out')
  await call('PUT', `/api/campaigns/${String(other['id'])}/status`, { status: 'archived' })
  assert.equal((await call('DELETE', `/api/campaigns/${String(other['id'])}`)).status, 200)
  const refused = await putBack(written[0])
  assert.equal(refused.status, 404, JSON.stringify(refused.said))
  assert.equal((await call('GET', `/api/campaigns/${campaign.id}/left-out`)).data?.length, 1)
})
