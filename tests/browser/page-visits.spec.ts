// A page on another site that counts its own visits: what the script sends and keeps, and the visitor's way on to the offer, whatever fails.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { APIRequestContext, Browser, Page } from '@playwright/test'
import { expect, send, test } from './dashboard.ts'

type Site = { address: string; host: string; close(): Promise<void> }

/** A site whose page at `/<name>` has the tag with the attributes of that name (twice if it is `none`), and its offer at `/offer`. */
async function startSite(tags: Record<string, string>, tracker: string): Promise<Site> {
  const server = createServer(({ url = '' }, response) => {
    const name = url.split('?', 1)[0]?.slice(1) ?? ''
    const own = tags[name] === undefined ? '' : `<script src="${tracker}/sluice.js" ${tags[name]} defer></script>`
    const tag = name === 'neutral' ? tags[name] : name === 'none' ? own + own : own
    const policy = name === 'strict' ? { 'content-security-policy': `script-src ${tracker}; connect-src 'none'` } : {}
    response.writeHead(200, { 'content-type': 'text/html', ...policy })
    const noscript = name === 'image' ? (tags['noscript'] ?? '') : ''
    const links = `<a id="on" href="${tracker}/o">Continue</a> <form action="/sent"><button data-sluice-offer>Play</button></form>
      <div data-sluice-offer><a href="#">Buy</a></div> <a id="shop" href="http://${host}/offer?x=1&q=M%FCller">Shop</a>`
    response.end(`<!doctype html><title>${name}</title>${tag}<body><h1>${name}</h1>${links}${noscript}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const host = `${new URL(tracker).hostname === 'localhost' ? '127.0.0.1' : 'localhost'}:${port}`
  return {
    address: `http://${host}`,
    host,
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

async function visitor(browser: Browser, options: object = {}): Promise<Page> {
  const context = await browser.newContext({ userAgent, storageState: { cookies: [], origins: [] }, ...options })
  const page = await context.newPage()
  page.on('pageerror', error => expect(error.message).toBe('no error'))
  return page
}

let site: Site
let campaign: { id: string; key: string }

test.beforeEach(async ({ owner, sluice }) => {
  const tags: Record<string, string> = {}
  site = await startSite(tags, sluice.address)
  const offer = await send(owner, 'POST', '/api/offers', {
    name: 'Offer',
    url: `${site.address}/offer?c={click_id}&s={sub1}`,
  })
  campaign = (await send(owner, 'POST', '/api/campaigns', {
    name: 'Pages',
    sites: [site.host],
    destination: { type: 'offer', offer_id: offer.id },
  })) as { id: string; key: string }
  const tag = `data-campaign="${campaign.key}"`
  Object.assign(tags, {
    page: tag,
    strict: tag,
    wait: `${tag} data-consent="wait"`,
    none: `${tag} data-storage="none"`,
    decorated: `${tag} data-decorate="${site.host}:sub1"`,
    unknown: 'data-campaign="no-such-key"',
  })
  const { noscript, neutral_script } = await send(owner, 'GET', `/api/campaigns/${campaign.id}/tag`)
  Object.assign(tags, { noscript: String(noscript), neutral: String(neutral_script) })
})
test.afterEach(() => site.close())

const arrived = async (owner: APIRequestContext) =>
  ((await send(owner, 'GET', `/api/campaigns/${campaign.id}/arrivals`)) as unknown as { data: { click_id: string }[] })
    .data
const clicks = async (owner: APIRequestContext) => new Set((await arrived(owner)).map(({ click_id }) => click_id))
const idOn = async (page: Page) => {
  await page.waitForFunction('window.sluice && sluice.click_id')
  return (await page.evaluate('sluice.click_id')) as string
}
const offerOf = (page: Page) => new URL(page.url()).searchParams

test('one load is one click; a reload and page changes are none, another gclid and visit() are one each', async ({
  browser,
  owner,
}) => {
  const page = await visitor(browser)
  await page.goto(`${site.address}/page?sub1=a`)
  const first = await idOn(page)
  await page.reload()
  expect(await idOn(page)).toBe(first)
  await page.evaluate('for (const at of [1, 2, 3]) history.pushState(null, "", `/page?at=${at}`)')
  expect((await clicks(owner)).size).toBe(1)
  await page.goto(`${site.address}/page?gclid=B`)
  await expect.poll(async () => (await clicks(owner)).size).toBe(2)
  const third = await page.evaluate('sluice.visit()')
  expect((await clicks(owner)).has(String(third))).toBe(true)
  expect((await clicks(owner)).size).toBe(3)
  await page.locator('#on').click()
  await page.waitForURL(/offer/)
  expect(offerOf(page).get('c')).toBe(third)
})

test('a link that is pressed before the answer leads on, and it is one click', async ({ browser, owner, sluice }) => {
  const page = await visitor(browser)
  let release = () => {}
  const held = new Promise<void>(resolve => (release = resolve))
  await page.route(`${sluice.address}/v/**`, async route => {
    await held
    await route.continue().catch(() => {})
  })
  await page.goto(`${site.address}/page?sub1=early`)
  await page.locator('#on').click()
  await page.waitForURL(/offer/)
  expect(offerOf(page).get('s')).toBe('early')
  release()
  await expect.poll(async () => [...(await clicks(owner))]).toEqual([offerOf(page).get('c')])
})

test('under its neutral name the middle button, the keyboard and a button lead to the offer of the click', async ({
  browser,
}) => {
  const page = await visitor(browser)
  await page.goto(`${site.address}/neutral`)
  const id = await idOn(page)
  const opened = page.context().waitForEvent('page')
  await page.locator('#on').click({ button: 'middle' })
  const tab = await opened
  await tab.waitForURL(/offer/)
  expect(offerOf(tab).get('c')).toBe(id)
  await page.locator('#on').focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/offer/)
  expect(offerOf(page).get('c')).toBe(id)
  await page.goBack()
  for (const one of [page.getByRole('button', { name: 'Play' }), page.getByRole('link', { name: 'Buy' })]) {
    await one.click()
    await page.waitForURL(/offer\?c=/)
    await page.goBack()
  }
})

test('before consent nothing is stored or sent, links lead on all the same, and consent can be taken back', async ({
  browser,
  owner,
  sluice,
}) => {
  const page = await visitor(browser)
  const sent: string[] = []
  page.on('request', request => sent.push(request.url()))
  await page.goto(`${site.address}/wait?sub1=a`)
  await page.locator('#on').hover()
  expect(await page.evaluate('sluice.visit()')).toBe(null)
  const stored = () =>
    page.evaluate('[document.cookie, ...Object.keys(sessionStorage), ...Object.keys(localStorage)].join("")')
  expect(await stored()).toBe('')
  await page.locator('#on').click()
  await page.waitForURL(/offer/)
  expect(offerOf(page).get('c')).toBe('')
  expect(sent.filter(url => url.startsWith(`${sluice.address}/v/`))).toEqual([])
  expect(await arrived(owner)).toEqual([])
  await page.goBack()
  await page.evaluate('sluice.consent(true)')
  await idOn(page)
  expect(await stored()).not.toBe('')
  await page.evaluate('sluice.consent(false)')
  expect(await stored()).toBe('')
  expect(await page.evaluate('sluice.click_id')).toBe(null)
  expect(await page.evaluate("sluice.convert('lead')")).toBe(null)
  expect((await clicks(owner)).size).toBe(1)
})

test('a page that is prerendered counts when it is shown, and never if it is not', async ({
  browser,
  owner,
  sluice,
}) => {
  const page = await visitor(browser)
  await page.addInitScript(
    "window.isAhead = true; Object.defineProperty(document, 'prerendering', { get: () => window.isAhead })",
  )
  const sent: string[] = []
  page.on('request', request => sent.push(request.url()))
  await page.goto(`${site.address}/page?sub1=never`)
  await page.goto(`${site.address}/page?sub1=shown`)
  expect(await page.evaluate('[document.cookie, ...Object.keys(sessionStorage)].join("")')).toBe('')
  expect(sent.filter(url => url.startsWith(`${sluice.address}/v/`))).toEqual([])
  await page.evaluate("window.isAhead = false; document.dispatchEvent(new Event('prerenderingchange'))")
  const id = await idOn(page)
  expect([...(await clicks(owner))]).toEqual([id])
  await page.locator('#on').click()
  await page.waitForURL(/offer/)
  expect([offerOf(page).get('c'), offerOf(page).get('s')]).toEqual([id, 'shown'])
})

test('without storage the id is kept in memory and links alone, a second tag counts nothing, and only named hosts get the id', async ({
  browser,
  owner,
}) => {
  const page = await visitor(browser)
  await page.goto(`${site.address}/none`)
  const id = await idOn(page)
  expect(await page.evaluate('[document.cookie, ...Object.keys(sessionStorage)].join("")')).toBe('')
  await page.locator('#shop').click()
  await page.waitForURL(/offer/)
  expect(page.url()).not.toContain(id)
  expect([...(await clicks(owner))]).toEqual([id])
  await page.goto(`${site.address}/decorated`)
  const decorated = await idOn(page)
  await page.locator('#shop').click()
  await page.waitForURL(/offer/)
  expect(new URL(page.url()).search).toBe(`?x=1&q=M%FCller&sub1=${decorated}`)
})

test('a page reports conversions, whose outcome it learns, and never an error', async ({ browser, owner }) => {
  const page = await visitor(browser)
  await page.goto(`${site.address}/page`)
  const convert = (call: string) => page.evaluate(`sluice.convert(${call})`)
  expect(await convert("'purchase', { nonce: 'a', value: 9.5, currency: 'USD' }")).toBe('pending')
  expect(await convert("'nonsense'")).toBe(null)
  expect(await convert('')).toBe(null)
  const { data } = (await send(owner, 'GET', `/api/events?click_id=${await idOn(page)}`)) as unknown as {
    data: { status: string }[]
  }
  expect(data.map(({ status }) => status)).toEqual(['pending'])
})

test('the visitor gets on if the campaign is unknown, the policy is strict, storage is blocked or the tracker fails', async ({
  browser,
  owner,
  sluice,
}) => {
  const page = await visitor(browser)
  await page.goto(`${site.address}/strict`)
  await page.locator('#on').click()
  await page.waitForURL(/offer/)
  expect(offerOf(page).get('c')).not.toBe('')
  await page.goto(`${site.address}/unknown`)
  await expect.poll(() => page.evaluate('sluice.visit()')).toBe(null)
  const blocked = await visitor(browser)
  await blocked.addInitScript(
    "for (const name of ['sessionStorage', 'localStorage']) Object.defineProperty(window, name, { get() { throw new Error(name) } })",
  )
  await blocked.goto(`${site.address}/page`)
  await idOn(blocked)
  const failing = await visitor(browser)
  await failing.route(`${sluice.address}/v/**`, route => route.abort())
  await failing.goto(`${site.address}/page`)
  await failing.locator('#on').click()
  await failing.waitForURL(/offer/)
  expect((await clicks(owner)).has(offerOf(failing).get('c') ?? '')).toBe(true)
})

test('a page whose tracker does not resolve has no error, and its own links work', async ({ browser }) => {
  const lost = await startSite({ page: 'data-campaign="summer"' }, 'http://tracker.invalid')
  try {
    const page = await visitor(browser)
    await page.goto(`${lost.address}/page`)
    await expect(page.getByRole('heading', { name: 'page' })).toBeVisible()
    expect(await page.evaluate('window.sluice')).toBe(undefined)
    await page.locator('#shop').click()
    await page.waitForURL(/offer\?x=1/)
  } finally {
    await lost.close()
  }
})

test('a page that is left before the answer is counted once, and one without JavaScript by the image', async ({
  browser,
  owner,
  sluice,
}) => {
  const page = await visitor(browser)
  await page.route(`${sluice.address}/v/**`, route =>
    route.request().resourceType() === 'fetch' ? undefined : route.continue(),
  )
  await page.goto(`${site.address}/page`)
  await page.goto(`${site.address}/offer`)
  await expect.poll(async () => (await clicks(owner)).size).toBe(1)
  const plain = await visitor(browser, { javaScriptEnabled: false })
  await plain.goto(`${site.address}/image?sub1=quiet`)
  await expect.poll(async () => (await clicks(owner)).size).toBe(2)
})

test('the page of a campaign shows the tag, takes sites, tells what arrived and adds a page server', async ({
  page,
  browser,
  owner,
  sluice,
}) => {
  await page.goto(`/campaigns/${campaign.id}`)
  await expect(page.getByText(`sluice.js" data-campaign="${campaign.key}" defer`)).toBeVisible()
  await expect(page.getByText(/\/[a-z]{8}\.js" data-campaign/)).toBeVisible()
  await expect(page.getByText('Nothing yet.')).toBeVisible()
  await page.getByLabel('Sites').fill(`${site.host}\nnot a site/`)
  await page.getByRole('button', { name: 'Save campaign' }).click()
  await expect(page.getByText('must be a host such as')).toBeVisible()
  await page.getByLabel('Sites').fill(`${site.host}\n*.SHOP.example`)
  await page.getByRole('checkbox', { name: 'Lead' }).check()
  await page.getByRole('button', { name: 'Save campaign' }).click()
  await expect(page.getByText('is saved')).toBeVisible()
  const saved = await send(owner, 'GET', `/api/campaigns/${campaign.id}`)
  expect([saved['sites'], saved['browser_types']]).toEqual([[site.host, '*.shop.example'], ['lead']])
  const visited = await visitor(browser)
  await visited.goto(`${site.address}/page`)
  await idOn(visited)
  await fetch(`${sluice.address}/v/${campaign.key}`, {
    method: 'POST',
    headers: { origin: 'https://evil.example' },
    body: JSON.stringify({ t: 'x'.repeat(22) }),
  })
  const arrivals = page.getByRole('region', { name: 'What arrived' })
  await expect(async () => {
    await arrivals.getByRole('button', { name: 'Check again' }).click()
    await expect(arrivals.getByText('Site not listed')).toBeVisible({ timeout: 2000 })
  }).toPass()
  await expect(arrivals.getByRole('link', { name: 'Counted' })).toBeVisible()
  await page.getByRole('button', { name: 'Add page server' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('PHP shop')
  await dialog.getByRole('button', { name: 'Add page server' }).click()
  await expect(dialog.getByLabel('Secret')).toHaveValue(/^[0-9a-z]{32}$/)
  await dialog.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByText('PHP shop')).toBeVisible()
})
