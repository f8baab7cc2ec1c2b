import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openexchangerates } from './openexchangerates.ts'

const answer = (rates: string) =>
  `{"disclaimer":"Usage subject to terms","license":"https://openexchangerates.org/license","timestamp":1772495940,"base":"USD","rates":{${rates}}}`

test('its numbers are read as they are written, day by day, up to the day before', async () => {
  const asked: string[] = []
  const get = async (address: string) => {
    asked.push(address)
    return answer('"BTC":1.25e-5,"EUR":0.8,"VND":26000,"USD":1,"VEF_BLKMKT":1,"XAU":0')
  }
  const quotes = await openexchangerates('https://oxr.example', 'abcd1234').read(get, '2026-02-28', '2026-03-03')
  assert.deepEqual(asked, [
    'https://oxr.example/api/historical/2026-03-01.json?app_id=abcd1234',
    'https://oxr.example/api/historical/2026-03-02.json?app_id=abcd1234',
  ])
  assert.deepEqual(
    quotes.filter(({ day }) => day === '2026-03-02').map(({ currency, usd_per_unit }) => [currency, usd_per_unit]),
    [
      ['BTC', '80000'],
      ['EUR', '1.25'],
      ['VND', '0.0000384615384615'],
    ],
  )
  for (const wrong of ['{}', 'no', answer('"EUR":1').replace('"USD"', '"EUR"')])
    await assert.rejects(
      openexchangerates('https://oxr.example', 'abcd1234').read(async () => wrong, '2026-03-01', '2026-03-03'),
    )
})
