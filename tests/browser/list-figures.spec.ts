// The figures in the lists of offers, landings, funnels and click flows, from real clicks and conversions.
import type { APIRequestContext } from '@playwright/test'
import { awayFromMidnight } from '../support/midnight.ts'
import { expect, send, test } from './dashboard.ts'

const BROWSER =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36'

const url = 'https://example.com/?subid={click_id}'

async function visit(address: string, key: unknown): Promise<string> {
  const answer = await fetch(`${address}/c/${String(key)}`, { redirect: 'manual', headers: { 'user-agent': BROWSER } })
  return /(?:subid|click_id)=(\w+)/.exec(answer.headers.get('location') ?? '')?.[1] ?? ''
}

/** Two funnels: one got four visitors, of whom two became leads and one made a first deposit; no campaign leads to the other. */
async function seedFunnels(owner: APIRequestContext, address: string) {
  await awayFromMidnight()
  // Other tests have their own offers and funnels. The marker in the names keeps those out of the totals.
  const dear = await send(owner, 'POST', '/api/offers', {
    name: 'Dear figured',
    url,
    payout: '40',
    payout_types: ['lead', 'ftd'],
  })
  const idle = await send(owner, 'POST', '/api/offers', { name: 'Idle figured', url })
  const quiz = await send(owner, 'POST', '/api/landings', { name: 'Figured quiz', url })
  await send(owner, 'POST', '/api/landings', { name: 'Unseen figured', url })
  const offers = [{ offer_id: dear.id, weight: 1 }]
  const landings = [{ landing_id: quiz.id, weight: 1 }]
  const funnel = await send(owner, 'POST', '/api/funnels', { name: 'Sports figured', landings, offers })
  await send(owner, 'POST', '/api/funnels', {
    name: 'Unled figured',
    landings: [],
    offers: [{ offer_id: idle.id, weight: 1 }],
  })
  const destination = { type: 'funnel', funnel_id: funnel.id }
  const campaign = await send(owner, 'POST', '/api/campaigns', { name: 'To the funnel', destination })
  const clicks: string[] = []
  for (let visitor = 0; visitor < 4; visitor += 1) clicks.push(await visit(address, campaign['key']))
  await send(owner, 'POST', '/api/events', { clickId: clicks[0], type: 'lead' })
  await send(owner, 'POST', '/api/events', { clickId: clicks[0], type: 'ftd' })
  await send(owner, 'POST', '/api/events', { clickId: clicks[1], type: 'lead' })
}

test('offers, landings and funnels show figures of the chosen days, sortable, with a total @detail', async ({
  page,
  owner,
  sluice,
}) => {
  await seedFunnels(owner, sluice.address)
  const row = (name: string) => page.getByRole('row', { name: new RegExp(`^(Select ${name} )?${name} `) })
  const figures = ['120.00', '4', '75.0%', '30.00']
  for (const [path, known, nothing] of [
    ['offers', 'Dear figured', 'Idle figured'],
    ['landings', 'Figured quiz', 'Unseen figured'],
  ] as const) {
    await page.goto(`/${path}?range=today&q=figured`)
    await expect(row(known).getByRole('cell')).toContainText(figures)
    await expect(row(nothing).getByRole('cell')).toContainText(['0.00', '0', '—', '—'])
    await expect(row('Total').getByRole('cell')).toContainText(figures)
    const table = page.getByRole('table')
    await table.getByRole('button', { name: 'Revenue' }).click()
    await expect(page).toHaveURL(/sort=-revenue/)
    await expect(table).toHaveText(new RegExp(`${known}.*${nothing}.*Total`, 's'))
    await table.getByRole('button', { name: 'Revenue' }).click()
    await expect(table).toHaveText(new RegExp(`${nothing}.*${known}.*Total`, 's'))
    await page.getByLabel('Conversion').selectOption('Goal: FTD')
    await expect(page).toHaveURL(/goal=ftd/)
    await expect(row(known).getByRole('cell')).toContainText(['120.00', '4', '25.0%', '30.00'])
    await page.getByLabel('Days').selectOption('Yesterday')
    await expect(row(known).getByRole('cell')).toContainText(['0.00', '0', '—', '—'])
  }

  await page.goto('/funnels?range=today&q=figured')
  await expect(page.getByText('of the campaigns that lead here now')).toBeVisible()
  await expect(row('Sports figured').getByRole('cell')).toContainText(figures)
  // No campaign leads to it, so its figures are dashes.
  await expect(row('Unled figured').getByRole('cell')).toContainText(['—', '—', '—', '—'])
  await expect(row('Total').getByRole('cell')).toContainText(figures)

  // A phone shows the name and the revenue first.
  await page.setViewportSize({ width: 390, height: 740 })
  await page.goto('/offers?range=today&q=figured')
  await expect(row('Dear figured').getByRole('cell').first()).toHaveText('120.00')
  await expect(row('Dear figured').getByRole('cell').first()).toBeInViewport({ ratio: 1 })
})

test('the campaign list counts CR by the chosen goal, also in its totals @detail', async ({ page, owner, sluice }) => {
  await awayFromMidnight()
  const destination = { type: 'redirect', url }
  for (const [name, type] of [
    ['Leads goaled', 'lead'],
    ['Deposits goaled', 'ftd'],
  ]) {
    const { key } = await send(owner, 'POST', '/api/campaigns', { name, destination })
    const [clickId] = [await visit(sluice.address, key), await visit(sluice.address, key)]
    await send(owner, 'POST', '/api/events', { clickId, type })
  }
  const row = (name: string) => page.getByRole('row', { name: new RegExp(`^(Select ${name} )?${name} `) })
  await page.goto('/campaigns?range=today&q=goaled')
  for (const name of ['Leads goaled', 'Deposits goaled', 'Total']) await expect(row(name)).toContainText('50.0%')
  await page.getByLabel('Conversion').selectOption('Goal: FTD')
  await expect(page).toHaveURL(/goal=ftd/)
  await expect(row('Deposits goaled')).toContainText('50.0%')
  await expect(row('Leads goaled')).toContainText('0.00%')
  await expect(row('Total')).toContainText('25.0%')
})

test('click flows show the figures of the campaigns that lead to them @detail', async ({ page, owner, sluice }) => {
  await awayFromMidnight()
  const graph = {
    nodes: [
      { id: 'in', type: 'entry' },
      { id: 'out', type: 'redirect', url },
    ],
    edges: [{ from: 'in', to: 'out' }],
  }
  const flow = await send(owner, 'POST', '/api/click-flows', { name: 'By country', graph })
  await send(owner, 'POST', `/api/click-flows/${flow.id}/publish`)
  const destination = { type: 'click_flow', click_flow_id: flow.id }
  const campaign = await send(owner, 'POST', '/api/campaigns', { name: 'To the flow', destination })
  const click = await visit(sluice.address, campaign['key'])
  await send(owner, 'POST', '/api/events', { clickId: click, type: 'lead', payout: '7.5' })
  await page.goto('/click-flows?range=today')
  const row = page.getByRole('row', { name: /^Select By country / })
  await expect(row.getByRole('cell')).toContainText(['7.50', '1', '100.0%', '7.50', 'Active', '1', 'To the flow'])
})

test('the form of an offer warns if one click earned its payout twice @detail', async ({ page, owner, sluice }) => {
  const payout_types = ['lead', 'purchase']
  const twice = await send(owner, 'POST', '/api/offers', { name: 'Twice', url, payout: '18.50', payout_types })
  await send(owner, 'POST', '/api/offers', { name: 'Single', url, payout: '18.50', payout_types: ['lead'] })
  const campaign = await send(owner, 'POST', '/api/campaigns', {
    name: 'Twice',
    destination: { type: 'redirect', url },
    offer_id: twice.id,
  })
  const click = await visit(sluice.address, campaign['key'])
  for (const type of ['lead', 'purchase']) await send(owner, 'POST', '/api/events', { clickId: click, type })
  await page.setViewportSize({ width: 1366, height: 768 })
  await page.goto('/offers')
  await page.getByRole('button', { name: 'Twice', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit Twice' })
  // The warning stands above the types it is about, because they fill a laptop’s screen.
  await expect(dialog.getByText('In the last 30 days 1 click earned the payout more than once.')).toBeInViewport()
  await expect(dialog.getByText('Lead + Purchase: 1')).toBeVisible()
  await page.keyboard.press('Escape')
  const answered = page.waitForResponse(/repeated-payouts/)
  await page.getByRole('button', { name: 'Single', exact: true }).click()
  await answered
  await expect(page.getByRole('dialog', { name: 'Edit Single' }).getByLabel('Pays on')).toHaveValue('lead')
  await expect(page.getByText('earned the payout more than once')).toHaveCount(0)
})

test('the form of an offer says if a network’s leads do not earn its payout @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const offer = await send(owner, 'POST', '/api/offers', {
    name: 'Unpaid',
    url,
    payout: '18.50',
    payout_types: ['lead'],
  })
  const campaign = await send(owner, 'POST', '/api/campaigns', {
    name: 'Unpaid',
    destination: { type: 'redirect', url },
    offer_id: offer.id,
  })
  const network = await send(owner, 'POST', '/api/networks', { name: 'Keitaro', template: 'keitaro' })
  const click = await visit(sluice.address, campaign['key'])
  const address = new URL(String(network['postback_url']))
  await owner.get(`${address.pathname}?subid=${String(click)}&status=lead&payout=18.5`)
  await page.goto('/offers')
  await page.getByRole('button', { name: 'Unpaid', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit Unpaid' })
  await expect(dialog).toContainText('In the last 30 days no conversion earned the payout. Lead: 1.')
  await expect(dialog).toContainText('Lead came with a payout of 0, as a network’s “Not paid yet” does.')
  await page.goto(`/networks/${network.id}`)
  await expect(page.getByText('recorded with a payout of 0, so that revenue is booked only once')).toBeVisible()
  await expect(page.getByLabel('Ignored')).toHaveAccessibleDescription(/Nothing is recorded.*kept under Refused/)
})
