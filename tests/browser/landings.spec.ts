// The whole path of a visitor: the campaign link, a landing page, the offer. Landing and offer are on another site than Sluice, as in
// production.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContextOptions, Page } from '@playwright/test'
import { expect, send, test } from './dashboard.ts'

type Site = { address: string; requestedPaths: string[]; close(): Promise<void> }

/** A site with a landing page at `/landing`, a further page, and an offer. It records the requested paths. */
async function startSite(tracker: string): Promise<Site> {
  const requestedPaths: string[] = []
  const pages: Record<string, string> = {
    '/landing': `<h1>Landing</h1><a href="${tracker}/o">Continue</a> <a href="/more">More</a>`,
    '/more': `<h1>More</h1><button data-sluice-offer>Play</button><a href="#" data-sluice-offer>Play now</a>`,
    '/named': `<h1>Named</h1><a href="${tracker}/o">Continue</a>`,
    '/offer': '<h1>Offer</h1>',
  }
  const server = createServer(({ url = '' }, response) => {
    requestedPaths.push(url)
    const path = url.split('?', 1)[0] ?? ''
    const body = pages[path]
    const name = path === '/named' ? ' data-click="subid"' : ''
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/html' })
    response.end(`<!doctype html><script src="${tracker}/sluice.js"${name} defer></script>${body ?? 'Nothing'}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const host = new URL(tracker).hostname === 'localhost' ? '127.0.0.1' : 'localhost'
  return {
    address: `http://${host}:${port}`,
    requestedPaths,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Headless Chromium has "Headless" in its user agent and would count as a crawler. */
const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36'

/** A page of a visitor who is not signed in. */
async function visitor(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ userAgent, storageState: { cookies: [], origins: [] }, ...options })
  return context.newPage()
}

const clickOf = (page: Page): string => new URL(page.url()).searchParams.get('click_id') ?? ''

test('a landing, offers, a funnel and a campaign are created, and a visitor goes from the click to the landing and on to the offer @detail', async ({
  page,
  browser,
  owner,
  sluice,
}) => {
  const site = await startSite(sluice.address)
  await page.goto('/landings')
  await page.getByRole('button', { name: 'New landing' }).first().click()
  const landing = page.getByRole('dialog', { name: 'New landing' })
  await landing.getByLabel('Name').fill('Prelander')
  await landing.getByLabel('Address').fill(`${site.address}/landing?x={clickid}`)
  await expect(landing.getByText('{clickid} is not a macro')).toBeVisible()
  await expect(landing.getByText('the script on the page does not know the click')).toBeVisible()
  await landing.getByLabel('Address').fill(`${site.address}/landing?click_id={click_id}`)
  await expect(landing.getByText(/Preview: .*\/landing\?click_id=[0-9a-z]{26}/)).toBeVisible()
  await landing.getByRole('button', { name: 'Add landing' }).click()
  await expect(page.getByRole('row', { name: /Prelander/ })).toContainText('Active')
  await expect(page.getByText(`<script src="${sluice.address}/sluice.js" defer></script>`)).toBeVisible()
  await expect(page.getByText(`<a href="${sluice.address}/o">Continue</a>`)).toBeVisible()

  await page.getByRole('link', { name: 'Offers' }).click()
  for (const name of ['Casino', 'Betting']) {
    await page.getByRole('button', { name: 'New offer' }).first().click()
    const offer = page.getByRole('dialog', { name: 'New offer' })
    await offer.getByLabel('Name').fill(name)
    await offer.getByLabel('Address').fill(`${site.address}/offer?click_id={click_id}&of=${name}`)
    await offer.getByRole('button', { name: 'Add offer' }).click()
    await expect(page.getByRole('row', { name: new RegExp(name) })).toBeVisible()
  }

  await page.getByRole('link', { name: 'Funnels' }).click()
  await page.getByRole('button', { name: 'New funnel' }).first().click()
  const funnel = page.getByRole('dialog', { name: 'New funnel' })
  await funnel.getByLabel('Name').fill('Sports')
  await funnel.getByRole('button', { name: 'Create funnel' }).click()
  await expect(funnel.getByRole('alert')).toContainText('a funnel needs a landing or an offer')
  await funnel.getByLabel('Another landing').selectOption({ label: 'Prelander' })
  for (const name of ['Casino', 'Betting']) {
    await funnel.getByLabel('Another offer').selectOption({ label: name })
    await funnel.getByRole('button', { name: 'Add offer' }).click()
  }
  await expect(funnel.getByLabel('Share of Casino')).toHaveText('50.0%')
  await funnel.getByLabel('Weight of Casino').fill('')
  await funnel.getByRole('button', { name: 'Create funnel' }).click()
  await expect(funnel.getByLabel('Weight of Casino')).toHaveAccessibleDescription(/whole number from 1/)
  await funnel.getByLabel('Weight of Casino').fill('3')
  await expect(funnel.getByLabel('Share of Casino')).toHaveText('75.0%')
  await funnel.getByRole('button', { name: 'Remove Betting' }).click()
  await funnel.getByRole('button', { name: 'Create funnel' }).click()
  await expect(page.getByRole('row', { name: /Sports/ })).toContainText('Casino')

  await page.getByRole('link', { name: 'Campaigns' }).click()
  await page.getByRole('link', { name: 'New campaign' }).first().click()
  await page.getByLabel('Name', { exact: true }).fill('Walk')
  await page.getByLabel('Key').fill('walk')
  await page.getByLabel('Visitors go to').selectOption({ label: 'A funnel' })
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByLabel('Funnel', { exact: true })).toHaveAccessibleDescription(/Choose a funnel/)
  await page.getByLabel('Funnel', { exact: true }).selectOption({ label: 'Sports' })
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Walk' })).toBeVisible()

  const guest = await visitor(browser)
  await guest.goto(`${sluice.address}/c/walk`)
  await expect(guest.getByRole('heading', { name: 'Landing' })).toBeVisible()
  const id = clickOf(guest)
  expect(id).toMatch(/^[0-9a-z]{26}$/)
  // The beacon alone marks the click as landed: the visitor has not gone on yet.
  await expect.poll(() => statusOf(owner, id)).toBe('landed')
  await page.goto('/clicks')
  await expect(page.getByRole('row', { name: new RegExp(id) })).toContainText('landed')
  await expect(guest.getByRole('link', { name: 'Continue' })).toHaveAttribute('href', `${sluice.address}/o/${id}`)
  await guest.getByRole('link', { name: 'Continue' }).click()
  await guest.waitForURL(/\/offer\?/)
  expect(clickOf(guest)).toBe(id)
  await guest.context().close()
  await site.close()
})

/** Creates a campaign that leads through the site's landing page to its offer. */
async function createCampaignWithLanding(owner: Parameters<typeof send>[0], site: Site, key: string, page: string) {
  const landing = await send(owner, 'POST', '/api/landings', { name: key, url: `${site.address}${page}` })
  const offer = await send(owner, 'POST', '/api/offers', {
    name: key,
    url: `${site.address}/offer?click_id={click_id}`,
  })
  const funnel = await send(owner, 'POST', '/api/funnels', {
    name: key,
    landings: [{ landing_id: landing.id, weight: 1 }],
    offers: [{ offer_id: offer.id, weight: 1 }],
  })
  await send(owner, 'POST', '/api/campaigns', { name: key, key, destination: { type: 'funnel', funnel_id: funnel.id } })
}

async function statusOf(owner: Parameters<typeof send>[0], id: string): Promise<unknown> {
  const { data } = await send(owner, 'GET', '/api/clicks')
  return (data as { id: string; status: string }[]).find(click => click.id === id)?.status
}

test('the script remembers the click on further pages of the site, and points buttons and links to the offer', async ({
  browser,
  owner,
  sluice,
}) => {
  const site = await startSite(sluice.address)
  await createCampaignWithLanding(owner, site, 'pages', '/landing?click_id={click_id}')
  for (const next of ['button', 'link'] as const) {
    const guest = await visitor(browser)
    await guest.goto(`${sluice.address}/c/pages`)
    const id = clickOf(guest)
    await guest.getByRole('link', { name: 'More' }).click()
    await expect(guest.getByRole('heading', { name: 'More' })).toBeVisible()
    await guest.getByRole(next, { name: next === 'button' ? 'Play' : 'Play now' }).click()
    await guest.waitForURL(/\/offer\?/)
    expect(clickOf(guest)).toBe(id)
    await guest.context().close()
  }
  await site.close()
})

test('the script reads the id from the parameter that the page names, and without an id uses the visitor’s own click @detail', async ({
  browser,
  owner,
  sluice,
}) => {
  const site = await startSite(sluice.address)
  await createCampaignWithLanding(owner, site, 'named', '/named?subid={click_id}')
  const named = await visitor(browser)
  await named.goto(`${sluice.address}/c/named`)
  const id = new URL(named.url()).searchParams.get('subid') ?? ''
  await expect(named.getByRole('link', { name: 'Continue' })).toHaveAttribute('href', `${sluice.address}/o/${id}`)
  await expect.poll(() => statusOf(owner, id)).toBe('landed')
  await named.context().close()
  await createCampaignWithLanding(owner, site, 'nameless', '/more')
  const nameless = await visitor(browser)
  await nameless.goto(`${sluice.address}/c/nameless`)
  await nameless.getByRole('button', { name: 'Play' }).click()
  await nameless.waitForURL(/\/offer\?/)
  await expect.poll(() => statusOf(owner, clickOf(nameless))).toBe('landed')
  await nameless.context().close()
  await site.close()
})

test('without JavaScript, and without the id in any address, visitors still get to the offer of their click @detail', async ({
  browser,
  owner,
  sluice,
}) => {
  const site = await startSite(sluice.address)
  await createCampaignWithLanding(owner, site, 'plain', '/landing')
  const guest = await visitor(browser, { javaScriptEnabled: false })
  await guest.goto(`${sluice.address}/c/plain`)
  await expect(guest.getByRole('heading', { name: 'Landing' })).toBeVisible()
  expect(site.requestedPaths).toContain('/landing')
  await expect(guest.getByRole('link', { name: 'Continue' })).toHaveAttribute('href', `${sluice.address}/o`)
  await guest.getByRole('link', { name: 'Continue' }).click()
  await guest.waitForURL(/\/offer\?/)
  await expect.poll(() => statusOf(owner, clickOf(guest))).toBe('landed')
  await guest.context().close()
  await site.close()
})
