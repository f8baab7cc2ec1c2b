// Filters of the click log and the conversion log; all of them are in the URL.
import { expect, send, test } from './dashboard.ts'

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36'

/** Sends a visitor through a campaign and returns the click's id. */
async function visit(address: string, key: string, sub1: string): Promise<string> {
  const reply = await fetch(`${address}/c/${key}?sub1=${encodeURIComponent(sub1)}`, {
    redirect: 'manual',
    headers: { 'user-agent': BROWSER },
  })
  return /c=(\w+)/.exec(reply.headers.get('location') ?? '')?.[1] ?? ''
}

test('clicks are filtered by country and sub1, the filters are in the URL, Back undoes them, and one press clears them', async ({
  page,
  sluice,
  owner,
}) => {
  const destination = { type: 'redirect', url: 'https://example.com/?c={click_id}' }
  await send(owner, 'POST', '/api/campaigns', { name: 'Narrowed', key: 'narrowed', destination })
  const first = await visit(sluice.address, 'narrowed', '120211234567890123')
  const second = await visit(sluice.address, 'narrowed', 'video 2')
  const [one, two] = [first, second].map(id => page.getByRole('row', { name: new RegExp(id) }))
  if (one === undefined || two === undefined) throw new Error('no rows')
  await page.goto('/clicks')
  await expect(one).toBeVisible()
  await expect(two).toBeVisible()
  const clear = page.getByRole('button', { name: 'Clear filters' })
  await expect(clear).toBeHidden()

  const sub1 = page.getByLabel('sub1, exactly')
  await sub1.fill(' video 2')
  // Nothing is searched while someone types.
  await expect(page).toHaveURL(/clicks$/)
  await sub1.press('Enter')
  await expect(page).toHaveURL(/sub1=video(\+|%20)2/)
  await expect(one).toBeHidden()
  await expect(two).toBeVisible()
  await expect(sub1).toHaveValue('video 2')

  await page.getByLabel('Country').selectOption('Unknown country')
  await expect(page).toHaveURL(/country=none/)
  await expect(two).toBeVisible()
  await page.goBack()
  await expect(page).not.toHaveURL(/country=/)
  await page.goBack()
  await expect(sub1).toHaveValue('')
  await expect(one).toBeVisible()

  await sub1.fill('120211234567890123')
  // Leaving the field applies it.
  await page.getByLabel('Country').focus()
  await expect(two).toBeHidden()
  await page.reload()
  await expect(sub1).toHaveValue('120211234567890123')
  await expect(one).toBeVisible()
  await expect(two).toBeHidden()
  await page.getByLabel('Days', { exact: true }).selectOption('Last 30 days')
  await page.getByLabel('Status').selectOption('Clicked')
  await page.getByLabel('Campaign').selectOption('Narrowed')
  await expect(one).toBeVisible()
  await clear.click()
  await expect(page).toHaveURL(/clicks\?range=30d$/)
  await expect(two).toBeVisible()
  await expect(clear).toBeHidden()
  await expect(page.getByRole('main')).toBeFocused()
  await expect(sub1).toHaveValue('')

  await page.goto('/clicks?country=DE&sub1=nobody')
  await expect(page.getByText('No clicks here')).toBeVisible()
  await expect(page.getByLabel('Country').getByRole('option', { name: 'Germany' })).toBeAttached()
  await page.getByRole('button', { name: 'Show all' }).click()
  await expect(two).toBeVisible()
})

test('conversions are filtered by type and campaign, and one press clears the filters @detail', async ({
  page,
  sluice,
  owner,
}) => {
  const destination = { type: 'redirect', url: 'https://example.com/?c={click_id}' }
  await send(owner, 'POST', '/api/campaigns', { name: 'Typed', key: 'typed-log', destination })
  const clickId = await visit(sluice.address, 'typed-log', 'x')
  // No other test has a rule for these types.
  for (const type of ['first_dm', 'purchase']) await send(owner, 'POST', '/api/events', { clickId, type })
  await page.goto('/conversions')
  const [message, purchase] = ['First message', 'Purchase'].map(type =>
    page.getByRole('row', { name: new RegExp(`${type}.*${clickId}`) }),
  )
  if (message === undefined || purchase === undefined) throw new Error('no rows')
  await page.getByLabel('Campaign').selectOption('Typed')
  await page.getByLabel('Type').selectOption('Purchase')
  await expect(page).toHaveURL(/campaign=.*type=purchase/)
  await expect(purchase).toBeVisible()
  await expect(message).toBeHidden()
  await page.goBack()
  await expect(message).toBeVisible()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect(page).toHaveURL(/conversions$/)
  await expect(page.getByLabel('Campaign')).toHaveValue('')
  await expect(message).toBeVisible()
})

test('refused conversions are filtered by content and reason, the filters are in the URL, and only the filtered ones are run again @detail', async ({
  page,
  owner,
}) => {
  const { id, postback_url } = await send(owner, 'POST', '/api/networks', { name: 'Searched', template: 'plain' })
  const address = new URL(String(postback_url))
  for (const query of ['subid={clickid}&txid=TX-77', 'subid=nobody&txid=TX-78'])
    await owner.get(`${address.pathname}?${query}`)
  await page.goto(`/refused-events?network=${id}`)
  const rows = page.getByRole('table', { name: 'Refused intake' }).locator('tbody tr')
  await expect(rows).toHaveCount(2)
  const search = page.getByLabel('Search')
  await search.fill('tx-77')
  await expect(page).toHaveURL(/q=tx-77/)
  await expect(rows).toHaveCount(1)
  await expect(rows).toContainText('{clickid}')
  await page.getByRole('button', { name: 'Run all again…' }).click()
  await expect(page.getByRole('dialog', { name: 'Run these again' })).toContainText('1 refused conversion.')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await search.fill('macro not')
  await expect(rows).toContainText('{clickid}')
  await search.fill('nothing like it')
  await expect(page.getByText('Nothing matches the filters.')).toBeVisible()
  await page.goBack()
  await expect(search).not.toHaveValue('nothing like it')
})
