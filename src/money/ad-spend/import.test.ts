import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId, seedKey, useHouse, type TestHouse, toWireId } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'
import type { RIGHTS } from '../../contract/rights.ts'
import type { SpendLine } from './api.ts'

let house: TestHouse
before(async () => {
  house = await useHouse()
})
after(() => house.end())

/** An organization with campaigns of these names and random keys. */
async function seedPlace(...names: string[]) {
  const place = await seedSignedIn(house)
  const campaigns = []
  for (const name of names) campaigns.push(await seedCampaign(place.org_id, name))
  return { ...place, campaigns }
}

async function seedCampaign(org_id: number, name: string, deleted = false) {
  const [id, now] = [newId(), new Date().toISOString()]
  const key = `key-${toWireId(id).slice(-8)}`
  await house.database.worker.query(
    `insert into campaigns (org_id, id, name, key, destination, source, strict_filter, created_at, updated_at, deleted_at)
    values ($1, $2, $3, $4, '{"type":"redirect","url":"https://a.example"}', '{}', false, $5, $5, $6)`,
    [org_id, id, name, key, now, deleted ? now : null],
  )
  return { id: toWireId(id), key }
}

type Body = { csv: string; dry_run?: boolean; [field: string]: unknown }
type Imported = {
  columns: Record<string, string | null>
  lines: SpendLine[]
  wrong: number
  changed: number
  total: string
}

const send = ({ cookie }: Pick<SignedIn, 'cookie'>, body: Body) =>
  house.call('POST', '/api/ad-spend/import', { cookie, body: { dry_run: false, ...body } })

async function taken(place: Pick<SignedIn, 'cookie'>, body: Body): Promise<Imported> {
  const answer = await send(place, body)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<Imported>()
}

async function stored({ org_id }: { org_id: number }) {
  const { rows } = await house.database.reads.query<{ line: string }>(
    `select concat_ws(' ', s.day, c.name, nullif(s.sub1, ''), s.amount, s.source) as line
    from ad_spend s join campaigns c on c.org_id = s.org_id and c.id = s.campaign_id
    where s.org_id = $1 order by s.day, c.name, s.sub1`,
    [org_id],
  )
  return rows.map(({ line }) => line)
}

const fates = ({ lines }: Imported) => lines.map(({ line, fate }) => `${line} ${fate}`)
const errors = ({ lines }: Imported) => lines.flatMap(({ line, error }) => (error === null ? [] : [`${line} ${error}`]))

describe('a file of spend', () => {
  test('goes in without the lines that are left out by number, and still whole or not at all', async () => {
    const place = await seedPlace('Alpha')
    const csv = 'day,campaign,amount\n2026-03-01,Alpha,5\n2026-03-01,Nobody,7\n2026-03-02,Alpha,x\n2026-03-03,Alpha,2'
    const looked = await taken(place, { csv, leave_out: [3], dry_run: true })
    assert.deepEqual(fates(looked), ['2 new', '4 wrong', '5 new'])
    assert.equal((await send(place, { csv, leave_out: [3] })).statusCode, 400)
    assert.deepEqual(await stored(place), [])
    const answer = await taken(place, { csv, leave_out: [3, 4, 99] })
    assert.equal(answer.wrong, 0)
    assert.equal(answer.total, '7')
    assert.deepEqual(await stored(place), ['2026-03-01 Alpha 5 manual', '2026-03-03 Alpha 2 manual'])
    assert.equal((await send(place, { csv, leave_out: ['3'] })).statusCode, 400)
  })

  test('is looked through in a dry run, which changes nothing, and then taken in whole', async () => {
    const place = await seedPlace('Alpha', 'Beta')
    const [alpha, beta] = place.campaigns
    await taken(place, {
      csv: 'day,campaign,sub1,amount\n2026-03-01,Alpha,,5\n2026-03-02,Beta,x,7\n2026-03-03,Beta,,1.50',
    })
    const csv = [
      'day,campaign,sub1,amount',
      `2026-03-01,${alpha?.id},,6.25`,
      `2026-03-02,${beta?.key.toUpperCase()},x,`,
      '2026-03-03,beta,,1.5',
      '2026-03-04,Alpha,"a ""b"", c",0.0000005',
      '2026-03-04,Alpha,,',
      '',
    ].join('\n')
    const was = await stored(place)
    const dry = await taken(place, { csv, dry_run: true })
    assert.deepEqual(fates(dry), ['2 replaces', '3 deletes', '4 same', '5 new', '6 nothing'])
    assert.deepEqual([dry.wrong, dry.changed, dry.total], [0, 3, '7.750001'])
    const { line, campaign_name, before, becomes } = dry.lines[0] ?? assert.fail()
    assert.deepEqual(
      { line, campaign_name, before, becomes },
      { line: 2, campaign_name: 'Alpha', before: '5', becomes: '6.25' },
    )
    assert.deepEqual(await stored(place), was)
    assert.deepEqual(fates(await taken(place, { csv })), fates(dry))
    const now = [
      '2026-03-01 Alpha 6.25 manual',
      '2026-03-03 Beta 1.5 manual',
      '2026-03-04 Alpha a "b", c 0.000001 manual',
    ]
    assert.deepEqual(await stored(place), now)
    // The same file again changes nothing.
    assert.equal((await taken(place, { csv })).changed, 0)
    assert.deepEqual(await stored(place), now)
  })

  test('with a wrong line changes nothing, and says which lines are wrong and why', async () => {
    const place = await seedPlace('Alpha', 'Twin', 'twin')
    await seedCampaign(place.org_id, 'Gone', true)
    const other = await seedPlace('Secret')
    const [older] = place.campaigns.slice(1).toSorted((one, twin) => (one.id < twin.id ? -1 : 1))
    const csv = [
      'date,campaign name,spend',
      '2026-03-01,Alpha,5',
      '2026-03-01,Secret,5',
      `2026-03-01,${other.campaigns[0]?.id},5`,
      '2026-03-01,Twin,5',
      '2026-02-30,Alpha,5',
      '2026-03-01,Alpha,-5',
      '03/04/2026,Alpha,5.25',
      '2026-03-01,,5',
      ',,10.25',
      'Total,,35',
      '2026-03-02,Gone,5',
    ].join('\n')
    const dry = await taken(place, { csv, dry_run: true })
    assert.deepEqual(errors(dry), [
      '3 there is no campaign “Secret”',
      `4 there is no campaign “${other.campaigns[0]?.id}”`,
      `5 2 campaigns are called “${older === place.campaigns[1] ? 'Twin' : 'twin'}”: use the key instead, such as ${older?.key}`,
      '6 “2026-02-30” does not exist in the calendar',
      '7 “-5” is negative',
      '8 “03/04/2026” can be read as two days: choose whether the month or the day comes first',
      '9 it has no campaign',
      '10 it has no day; it has no campaign',
      '11 it is a line of totals: remove it from the file',
    ])
    assert.equal(dry.wrong, 9)
    const answer = await send(place, { csv })
    assert.deepEqual([answer.statusCode, answer.data()['code']], [400, 'spend_lines_wrong'])
    assert.match(String(answer.data()['error']), /^line 3: there is no campaign “Secret”; line 4: .*; line 11: /)
    assert.deepEqual([await stored(place), await stored(other)], [[], []])
  })

  test('adds up lines of the same campaign, day and sub1, but not an amount and none', async () => {
    const place = await seedPlace('Alpha')
    const csv = 'day,campaign,ad,amount\n2026-03-01,Alpha,one,1.10\n2026-03-01,Alpha,two,2.2\n2026-03-01,Alpha,three,3'
    const { lines } = await taken(place, { csv })
    assert.deepEqual(
      lines.map(({ fate, amount, becomes, added_to }) => [fate, amount, becomes, added_to]),
      [
        ['new', '1.1', '6.3', null],
        ['added', '2.2', '6.3', 2],
        ['added', '3', '6.3', 2],
      ],
    )
    assert.deepEqual(await stored(place), ['2026-03-01 Alpha 6.3 manual'])
    const both = await taken(place, { csv: `${csv}\n2026-03-01,Alpha,four,`, dry_run: true })
    assert.deepEqual(errors(both), ['5 it has no amount, and line 2 has the same campaign, day and sub1'])
  })

  test('of thousands of lines for one campaign and day becomes their sum', async () => {
    const place = await seedPlace('Alpha')
    const { lines, total } = await taken(place, {
      csv: `day,campaign,cost\n${'2026-03-01,Alpha,1.000001\n'.repeat(5000)}`,
    })
    assert.deepEqual([lines.length, lines[4999]?.becomes, total], [5000, '5000.005', '5000.005'])
    assert.deepEqual(await stored(place), ['2026-03-01 Alpha 5000.005 manual'])
  })

  test('whose line has more cells than titles is not read by the wrong titles', async () => {
    const place = await seedPlace('Alpha')
    const csv = 'day,campaign,amount\n2026-03-01,Alpha,1,234.50\n2026-03-02,Alpha,"1,234.50"\n2026-03-03,Alpha,5,,\n'
    const dry = await taken(place, { csv, dry_run: true })
    assert.deepEqual(errors(dry), [
      '2 it has 4 cells under 3 titles: put quotes around cells that contain the separator',
    ])
    assert.equal((await send(place, { csv })).statusCode, 400)
    assert.deepEqual(await stored(place), [])
  })

  test('is understood as spreadsheets and ad platforms write it', async () => {
    const place = await seedPlace('Alpha')
    const files = [
      // A spreadsheet with decimal commas.
      '\uFEFFDatum;Kampagne;Kosten\r\n01.03.2026;Alpha;1.234,50\r\n',
      // A line above the titles, thousands separators, the currency in the title.
      'Campaign report\n"1 March 2026 - 1 March 2026"\nDay,Campaign,Cost (USD)\n2026-03-01,Alpha,"1,234.50"\n',
      'Reporting starts,Reporting ends,Campaign name,Amount spent (USD)\n2026-03-01,2026-03-01,Alpha,1234.5',
      'stat_time_day\tCampaign name\tCost\n2026-03-01 00:00:00\tAlpha\t1234.50',
    ]
    for (const csv of files) {
      const { lines } = await taken(place, { csv })
      assert.deepEqual([lines.length, lines[0]?.becomes], [1, '1234.5'], csv)
      await house.database.worker.query('delete from ad_spend where org_id = $1', [place.org_id])
    }
    const chosen = await taken(place, {
      csv: 'when,what,Cost,Real cost\n3/4/2026,Alpha,1,2\n5/4/2026,,3,4',
      columns: { day: 'when', campaign: 'what', amount: 'Real cost' },
      campaign_id: place.campaigns[0]?.id,
      date_order: 'day_first',
    })
    assert.deepEqual(chosen.columns, { day: 'when', campaign: 'what', sub1: null, amount: 'Real cost', currency: null })
    assert.deepEqual(await stored(place), ['2026-04-03 Alpha 2 manual', '2026-04-05 Alpha 4 manual'])
  })

  test('that is no file of spend is refused whole', async () => {
    const place = await seedPlace('Alpha')
    const line = '2026-03-01,Alpha,1\n'
    const refused: [Body, RegExp][] = [
      [{ csv: 'hello' }, /no line has the titles/],
      [{ csv: line }, /no line has the titles/],
      [
        { csv: 'day,amount\n2026-03-01,1' },
        /no column was found for a campaign: choose the column, or choose a campaign/,
      ],
      [{ csv: 'Day,Campaign,Price\n2026-03-01,Alpha,1' }, /no column was found for an amount: choose the column/],
      [{ csv: 'what,price\n2026-03-01,1' }, /A day, a campaign and an amount are required/],
      [{ csv: 'day,campaign,amount\n' }, /there are no lines below the titles/],
      [{ csv: 'day,campaign,amount\n"2026-03-01,Alpha,1' }, /[Qq]uote/],
      [{ csv: 'day,campaign,Amount spent (EUR)\n2026-03-01,Alpha,1', currency: 'PLN' }, /in EUR, but PLN was chosen/],
      [
        { csv: 'day,campaign,amount\n2026-03-01,Alpha,1', columns: { currency: 'Money' } },
        /no line has the column “Money”/,
      ],
      [{ csv: `day,campaign,amount\n${line}`, columns: { amount: 'Price' } }, /no line has the columns “Price”/],
      [{ csv: `day,campaign,amount\n${line.repeat(5001)}` }, /5001 lines, and at most 5000/],
    ]
    for (const [body, words] of refused) {
      const answer = await send(place, body)
      assert.deepEqual([answer.statusCode, answer.data()['code']], [400, 'spend_file_unreadable'], answer.body)
      assert.match(String(answer.data()['error']), words)
    }
    for (const csv of ['hello', line, 'day,campaign,amount\n"2026-03-01,Alpha,1'])
      assert.equal((await send(place, { csv, dry_run: true })).data()['code'], 'spend_file_unreadable', csv)
    const foreign = await seedPlace('Foreign')
    const usual = await send(place, { csv: 'day,amount\n2026-03-01,1', campaign_id: foreign.campaigns[0]?.id })
    assert.deepEqual([usual.statusCode, usual.data()['code']], [404, 'not_found'])
    assert.equal((await send(place, { csv: '' })).statusCode, 400)
    assert.equal(
      (await house.call('POST', '/api/ad-spend/import', { cookie: place.cookie, body: { csv: 'x' } })).statusCode,
      400,
    )
    const large = await send(place, { csv: `day,campaign,amount\n${'x'.repeat(1_100_000)}` })
    assert.equal(large.statusCode, 413)
    assert.deepEqual(await stored(place), [])
  })

  test('that cannot go in whole keeps the columns that were read, and says in a dry run what is wrong', async () => {
    const place = await seedPlace('Alpha')
    const euros = { csv: 'Day,Campaign,Zone ID,Amount spent (EUR),Dollars\n2026-03-01,Alpha,77,1,1.1', currency: 'PLN' }
    const titles = ['Day', 'Campaign', 'Zone ID', 'Amount spent (EUR)', 'Dollars']
    const dry = (await taken(place, { ...euros, dry_run: true })) as Imported & { titles: string[]; problem: string }
    assert.deepEqual([dry.titles, dry.lines, dry.changed], [titles, [], 0])
    assert.deepEqual(dry.columns, {
      day: 'Day',
      campaign: 'Campaign',
      sub1: 'Zone ID',
      amount: 'Amount spent (EUR)',
      currency: null,
    })
    assert.match(dry.problem, /its amounts are in EUR, but PLN was chosen/)
    // Unknown titles are returned too, so that they can be chosen.
    const unknown = { csv: 'when;Alpha or Beta;price\n2026-03-01;Alpha;2' }
    const guessed = (await taken(place, { ...unknown, dry_run: true })) as typeof dry
    assert.deepEqual(guessed.titles, ['when', 'Alpha or Beta', 'price'])
    assert.deepEqual(guessed.columns, { day: null, campaign: null, sub1: null, amount: null, currency: null })
    assert.match(guessed.problem, /no line has the titles/)
    const columns = { day: 'when', campaign: 'Alpha or Beta', amount: 'price' }
    assert.equal(((await taken(place, { ...unknown, columns, dry_run: true })) as typeof dry).problem, null)
    assert.deepEqual(await stored(place), [])
    await taken(place, { ...euros, currency: null, columns: { amount: 'Dollars' } })
    assert.deepEqual(await stored(place), ['2026-03-01 Alpha 77 1.1 manual'])
  })

  test('is in the currency that a column of it says, line by line', async () => {
    const place = await seedPlace('Alpha')
    const titles = ['Currency', 'Currency code', 'Account currency']
    for (const title of titles) {
      const csv = `day,campaign,cost,${title}\n2026-03-01,Alpha,5.5,EUR\n2026-03-02,Alpha,1,usd\n2026-03-03,Alpha,2,`
      const dry = await taken(place, { csv, dry_run: true })
      assert.deepEqual(errors(dry), ['2 no rate of EUR is known for 2026-03-01: set an own rate in Settings, Rates'])
      assert.equal((await send(place, { csv })).data()['code'], 'spend_lines_wrong')
      assert.deepEqual(await stored(place), [])
    }
    // The account is in euros, but the chosen column is in dollars.
    await taken(place, { csv: 'day,campaign,Cost (USD),Currency\n2026-03-01,Alpha,5.5,EUR' })
    assert.deepEqual(await stored(place), ['2026-03-01 Alpha 5.5 manual'])
  })

  test('finds sub1 under the names traffic sources have for it', async () => {
    const place = await seedPlace('Alpha')
    const names = [
      'Zone ID',
      'zoneid',
      'Zone',
      'Site ID',
      'source_id',
      'Placement',
      'Sub ID',
      'subid',
      'Creative',
      'Creative ID',
    ]
    for (const title of names) {
      const csv = `day,campaign,${title},amount\n2026-03-01,Alpha,77,1`
      const { columns, lines } = await taken(place, { csv, dry_run: true })
      assert.deepEqual([columns['sub1'], lines[0]?.sub1], [title, '77'], title)
    }
    const both = await taken(place, { csv: 'day,campaign,creative,zone,amount\n2026-03-01,Alpha,a,b,1', dry_run: true })
    assert.equal(both.lines[0]?.sub1, 'b')
    const own = await taken(place, { csv: 'day,campaign,zone,sub1,amount\n2026-03-01,Alpha,a,b,1', dry_run: true })
    assert.equal(own.lines[0]?.sub1, 'b')
  })

  test('of the largest size goes in, and two at the same time do not stand in each other’s way', async () => {
    const place = await seedPlace('Alpha')
    const lines = Array.from({ length: 5000 }, (_, at) => `2026-03-0${1 + (at % 9)},Alpha,sub ${at},0.5`)
    const file = (list: string[]) => ['day,campaign,sub1,amount', ...list].join('\n')
    assert.equal((await taken(place, { csv: file(lines) })).changed, 5000)
    const some = lines.slice(0, 200).map(line => line.replace(/0\.5$/, '0.6'))
    await Promise.all([some, some.toReversed()].map(list => taken(place, { csv: file(list) })))
    const { rows } = await house.database.reads.query(
      'select count(*)::int, sum(amount) from ad_spend where org_id = $1',
      [place.org_id],
    )
    assert.deepEqual(rows, [{ count: 5000, sum: '2520.0' }])
  })

  test('with a title of any length is answered at once', async () => {
    const place = await seedPlace('Alpha')
    const first = await send(place, { csv: `${'('.repeat(900_000)}\n2026-03-01,Alpha,1` })
    assert.equal(first.data()['code'], 'spend_file_unreadable')
    await taken(place, { csv: `day,campaign,${'amount '.padEnd(900_000, '(')}\n2026-03-01,Alpha,1` })
    assert.deepEqual(await stored(place), ['2026-03-01 Alpha 1 manual'])
  })

  test('goes in beside others that name the same days in any order, each whole', async () => {
    const place = await seedPlace('Alpha', 'Beta')
    const fileOf = (at: number) => {
      const lines = Array.from({ length: 200 }, (_, line) => {
        const number = (line * (at % 2 === 0 ? 7 : 193) + at) % 200
        const amount = (number + at) % 3 === 0 ? '' : String(at + 1)
        return `2026-03-${10 + (number % 20)},${number % 2 === 0 ? 'Alpha' : 'Beta'},sub ${number},${amount}`
      })
      return ['day,campaign,sub1,amount', ...lines].join('\n')
    }
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => send(place, { csv: fileOf(at) })))
    assert.deepEqual(
      answers.filter(({ statusCode }) => statusCode !== 200).map(({ body }) => body),
      [],
    )
    // All rows are from the file imported last.
    const { rows } = await house.database.reads.query(
      'select count(distinct amount)::int from ad_spend where org_id = $1',
      [place.org_id],
    )
    assert.deepEqual(rows, [{ count: 1 }])
  })

  test('is for owners and admins: members and keys are refused', async () => {
    const place = await seedPlace('Alpha')
    const csv = 'day,campaign,amount\n2026-03-01,Alpha,1'
    const member = await seedSignedIn(house, { place, role: 'member' })
    assert.equal((await send(member, { csv })).data()['code'], 'role_forbidden')
    const rights: (keyof typeof RIGHTS)[] = ['ad-spend']
    const { secret: key } = await seedKey(house.database, place, { rights })
    const byKey = await house.call('POST', '/api/ad-spend/import', { key, body: { csv, dry_run: false } })
    assert.deepEqual([byKey.statusCode, byKey.data()['code']], [403, 'api_key_resource_forbidden'])
    assert.deepEqual(await stored(place), [])
    const admin = await seedSignedIn(house, { place, role: 'admin' })
    assert.equal((await send(admin, { csv })).statusCode, 200)
  })
})
