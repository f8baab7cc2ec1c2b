import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { expect, send, test } from './dashboard.ts'
import { seedTraffic } from './traffic.ts'

const DAY = 86_400_000
const iso = (ms: number) => new Date(ms).toISOString().slice(0, 10)

test('the overview shows what clicks came to, and which zones earned and lost most, each with its row in the report', async ({
  page,
  owner,
  sluice,
}) => {
  const campaign = await seedTraffic(owner, sluice.address)
  await page.goto(`/?range=today&campaign=${campaign}`)
  await expect(page.getByText('Counted on the day of the click (UTC)')).toBeVisible()
  const figures = page.getByRole('group', { name: /^Figures of these days/ })
  const figure = (name: string) => figures.getByRole('button', { name: new RegExp(`^${name}`) })
  await expect(figure('Clicks')).toContainText('4')
  await expect(figure('Conversions')).toContainText('3')
  await expect(figure('Revenue')).toContainText('$60.00')
  await expect(figure('Cost')).toContainText('$20.00')
  await expect(figure('Profit')).toContainText('$40.00')
  await expect(figure('ROI')).toContainText('+200.0%')

  // Each click has a quarter of the 20 that were spent.
  const best = page.getByRole('table', { name: 'Best by profit' }).getByRole('row')
  await expect(best).toHaveCount(2, { timeout: 60_000 })
  await expect(best.last()).toContainText('50.00')
  const worst = page.getByRole('table', { name: 'Worst by profit' }).getByRole('row')
  await expect(worst).toHaveCount(3)
  await expect(worst.filter({ hasText: 'video-3' })).toContainText('−5.00')
  await best.getByRole('link', { name: '=1+1' }).click()
  const row = page.getByRole('treegrid').getByRole('row', { name: /^=1\+1/ })
  await expect(row).toContainText('50.00', { timeout: 60_000 })
})

test('conversions on hold or rejected count in no CR, in the overview, the campaigns and the report alike, until pending ones are counted too', async ({
  page,
  owner,
  sluice,
}) => {
  const campaign = await seedTraffic(owner, sluice.address)
  await send(owner, 'PATCH', `/api/campaigns/${campaign}`, { goal: ['lead'] })
  const { data } = (await send(owner, 'GET', `/api/events?campaign_id=${campaign}`)) as unknown as {
    data: { id: string; type: string }[]
  }
  const [held, rejected] = data.filter(({ type }) => type === 'lead')
  await send(owner, 'POST', `/api/events/${held?.id}/revisions`, { status: 'pending' })
  await send(owner, 'POST', `/api/events/${rejected?.id}/revisions`, { status: 'rejected', reason: 'a double' })
  // Each of the three pages says its rate, one or none of four clicks.
  const where = encodeURIComponent(JSON.stringify([['campaign', 'is', campaign]]))
  const says = async (rate: string) => {
    const pending = rate === '25.0%' ? '&pending=true' : ''
    await page.goto(`/?range=today&campaign=${campaign}${pending}`)
    const figures = page.getByRole('group', { name: /^Figures of these days/ })
    await expect(figures.getByRole('button', { name: /^CR/ })).toContainText(rate)
    for (const [path, role, name] of [
      ['/campaigns?range=today', 'table', 'Campaigns'],
      [`/report?range=today&where=${where}`, 'treegrid', /^Clicks by/],
    ] as const) {
      await page.goto(`${path}${pending}`)
      const row = page.getByRole(role, { name }).getByRole('row').filter({ hasText: 'Broad DE' })
      await expect(row.first()).toContainText(rate, { timeout: 60_000 })
    }
  }
  await says('0.00%')
  await page.goto(`/?range=today&campaign=${campaign}`)
  await page.getByLabel('Count pending').check()
  await expect(page).toHaveURL(/pending=true/)
  await says('25.0%')
})

test('a chart of few leads counts them in whole numbers @detail', async ({ page, owner, sluice }) => {
  const campaign = await seedTraffic(owner, sluice.address)
  await page.goto(`/?range=7d&campaign=${campaign}&chart=goal`)
  // The days below the chart are named with their month.
  const ticks = page.locator('.recharts-cartesian-axis-tick-value').filter({ hasNotText: /[a-z]/i })
  await expect(ticks.last()).toHaveText(/^[2-9]$/)
  for (const words of await ticks.allTextContents()) expect(words).toMatch(/^\d$/)
})

test('a window of more than 92 days is refused before it is asked for @detail', async ({ page, owner, sluice }) => {
  await seedTraffic(owner, sluice.address)
  await page.goto('/')
  await page.getByLabel('Days', { exact: true }).selectOption('choose')
  const dialog = page.getByRole('dialog', { name: 'Choose days' })
  await dialog.getByLabel('First day').fill('2026-01-01')
  await dialog.getByLabel('Last day').fill('2026-06-30')
  const show = dialog.getByRole('button', { name: 'Show' })
  await expect(show).toBeDisabled()
  await expect(show).toHaveAccessibleDescription('That is 181 days; a report covers at most 92.')
  await dialog.getByLabel('Last day').fill('2026-01-31')
  await show.click()
  await expect(page).toHaveURL(/from=2026-01-01.*to=2026-01-31/)
  await expect(page.getByLabel('Days', { exact: true })).toHaveValue('own')
})

test('the money of a day that is not over is held against whole days, never against part of one @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const campaign = await seedTraffic(owner, sluice.address)
  const tomorrow = iso(Date.now() + DAY)
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: campaign, day: tomorrow, amount: '5' })
  // Five past midnight: of the day before, the same time of day holds no click yet, but all of its spend.
  await page.clock.setFixedTime(`${tomorrow}T00:05:00Z`)
  await page.goto(`/?range=today&campaign=${campaign}`)
  const figures = page.getByRole('group', { name: /^Figures of these days/ })
  const figure = (name: string) => figures.getByRole('button', { name: new RegExp(`^${name}`) })
  await expect(figure('Revenue so far')).toContainText('before: $60.00')
  await expect(figure('Cost so far')).toContainText('before: $20.00')
  await expect(figure('Profit so far')).toContainText('before: $40.00')
  await expect(figure('ROI so far')).toContainText('−100.0%')
  await expect(figure('ROI so far')).toContainText('before: +200.0%')
  await expect(figure('EPC so far')).toContainText('before: $15.00')
  await expect(figures.getByText(/%.*from|pp/)).toHaveCount(0)
  await expect(figure('Clicks')).not.toContainText('so far')

  // The day after, the same day is whole and compared with a whole one.
  await page.clock.setFixedTime(Date.parse(`${tomorrow}T00:05:00Z`) + DAY)
  await page.goto(`/?from=${tomorrow}&to=${tomorrow}&campaign=${campaign}`)
  await expect(figure('ROI')).toContainText('−300 pp')
  await expect(figure('Cost')).toContainText('−75.0% from $20.00')
  await expect(figures.getByText('so far')).toHaveCount(0)
})

test('a smaller loss is not shown as a success @detail', async ({ page, owner, sluice }) => {
  const campaign = await seedTraffic(owner, sluice.address)
  const [day, before] = [iso(Date.now()), iso(Date.now() - DAY)]
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: campaign, day, amount: '80' })
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: campaign, day: before, amount: '100' })
  await page.clock.setFixedTime(Date.now() + DAY)
  await page.goto(`/?range=yesterday&campaign=${campaign}`)
  const change = page.getByRole('group', { name: /^Figures/ }).getByText('+75 pp')
  await expect(change).toBeVisible()
  await expect(change).not.toHaveClass(/text-good/)
})

test('goal and days are remembered where the menu opens the overview, and an address says otherwise @detail', async ({
  page,
  owner,
  sluice,
}) => {
  await seedTraffic(owner, sluice.address)
  await page.goto('/')
  await page.getByLabel('Conversion').selectOption('ftd')
  await page.getByLabel('Days', { exact: true }).selectOption('30d')
  await expect(page).toHaveURL(/goal=ftd.*range=30d|range=30d.*goal=ftd/)
  const menu = page.getByRole('navigation', { name: 'Main' })
  await menu.getByRole('link', { name: 'Clicks' }).click()
  await expect(page.getByRole('heading', { name: 'Clicks', level: 1 })).toBeVisible()
  await menu.getByRole('link', { name: 'Overview' }).click()
  await expect(page.getByLabel('Conversion')).toHaveValue('ftd')
  await expect(page.getByLabel('Days', { exact: true })).toHaveValue('30d')
  await page.goto('/?range=today')
  await expect(page.getByLabel('Days', { exact: true })).toHaveValue('today')
  await expect(page.getByLabel('Conversion')).toHaveValue('own')
  // A default that was chosen is said outright, for whoever is sent the address.
  await page.getByLabel('Days', { exact: true }).selectOption('7d')
  await expect(page).toHaveURL(/range=7d/)
})

test('one day is drawn at the end of its week, straight from day to day and dashed to today @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const campaign = await seedTraffic(owner, sluice.address)
  for (const range of ['today', '7d']) {
    await page.goto(`/?range=${range}&campaign=${campaign}`)
    const lines = page.locator('figure .recharts-area-curve')
    await expect(lines).toHaveCount(2)
    const paths = await lines.evaluateAll(found => found.map(line => line.getAttribute('d') ?? ''))
    // Six whole days, then from the last of them to today; a curve would have C in its path.
    expect(paths.map(path => path.replace(/[^A-Z]/g, ''))).toEqual(['MLLLLL', 'ML'])
    await expect(lines.last()).toHaveAttribute('stroke-dasharray', '4 4')
    await expect(page.getByText('Today so far')).toBeVisible()
  }
  await page.goto(`/?range=yesterday&campaign=${campaign}`)
  await expect(page.getByText(/and the six days before it/)).toBeVisible()
  await expect(page.locator('figure .recharts-area-curve')).toHaveCount(1)
})

test('on a small laptop the figures stand in one row, and what needs attention begins in sight @detail', async ({
  page,
  owner,
  sluice,
}) => {
  const campaign = await seedTraffic(owner, sluice.address)
  await page.setViewportSize({ width: 1366, height: 768 })
  await page.goto(`/?campaign=${campaign}`)
  const tiles = page.getByRole('group', { name: /^Figures of these days/ }).getByRole('button')
  await expect(tiles).toHaveCount(8)
  const tops = await tiles.evaluateAll(found => found.map(tile => Math.round(tile.getBoundingClientRect().top)))
  expect(new Set(tops).size).toBe(1)
  await expect(page.getByText(/^(Needs attention|Nothing needs attention\.)$/)).toBeInViewport({ ratio: 1 })
})

test('a refused call needs attention, and the line leads to where it is run again', async ({ page, owner }) => {
  await send(owner, 'POST', '/api/campaigns', {
    name: 'Refused',
    destination: { type: 'redirect', url: 'https://example.com/' },
  })
  const refused = await owner.post('/api/events', { data: { clickId: '{click_id}', type: 'lead' } })
  expect(refused.ok()).toBe(false)
  await page.goto('/')
  const line = page
    .getByRole('listitem')
    .filter({ hasText: /\d+ conversions? (was|were) refused in the last 24 hours\./ })
  await line.getByRole('link', { name: 'View and run again' }).click()
  await expect(page.getByRole('heading', { level: 1, name: /Refused/ })).toBeVisible()
  await expect(page.getByRole('row').filter({ hasText: 'Macro not replaced' }).first()).toBeVisible()
})

test('work that fails behind Sluice is listed in the overview and said on every other page, until it goes well @detail', async ({
  page,
  sluice,
}) => {
  const client = new pg.Client(sluice.database)
  await client.connect()
  const process_id = randomUUID()
  const said = page.getByText('Sending postbacks fails.')
  try {
    await client.query(
      `insert into failing_rounds (process_id, round, failing_since, told_at) values ($1, 'deliveries/postback', '2026-03-31T12:30:00Z', now())`,
      [process_id],
    )
    await page.goto('/')
    await expect(page.getByRole('listitem').filter({ has: said })).toContainText('Began ')
    await page.goto('/offers')
    await expect(page.getByRole('status').filter({ hasText: /Sending postbacks fails|needs? attention/ })).toBeVisible()
  } finally {
    await client.query('delete from failing_rounds where process_id = $1', [process_id])
    await client.end()
  }
  await page.goto('/')
  await expect(page.getByText(/^(Needs attention|Nothing needs attention\.)$/)).toBeVisible()
  await expect(said).toHaveCount(0)
})
