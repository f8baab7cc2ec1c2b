// Into Telegram: a campaign and a click flow that lead there, the page that opens the app, and a Mini App that posts its launch.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sign } from '@telegram-apps/init-data-node'
import { expect, send, test } from './dashboard.ts'

const userAgent =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Mobile Safari/537.36'

test('a campaign leads to a bot and then to a Mini App, and shows what is recorded there', async ({ page, owner }) => {
  const bot = await send(owner, 'POST', '/api/bots', { token: '9001:AAE-led', username: 'led_bot' })
  await page.goto('/campaigns/new')
  await page.getByLabel('Name', { exact: true }).fill('To the bot')
  await page.getByLabel('Visitors go to').selectOption('Telegram')
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByText('Choose a bot.')).toBeVisible()
  await page.getByLabel('Bot', { exact: true }).selectOption('@led_bot')
  await expect(page.getByText('https://t.me/led_bot?start={click_id}')).toBeVisible()
  await expect(page.getByText('Starts of @led_bot are not recorded yet.')).toBeVisible()
  await page.getByLabel('Start parameter').fill('promo{click_id}')
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByText('Must have - or _ right before {click_id}')).toBeVisible()
  await page.getByLabel('Start parameter').fill('promo-{click_id}')
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByRole('heading', { name: 'To the bot', exact: true })).toBeVisible()
  const shown = async () => {
    const { data } = await send(owner, 'GET', '/api/campaigns?q=To the bot')
    return (data as { destination: unknown }[])[0]?.destination
  }
  const place = { bot_id: bot.id, start: 'promo-{click_id}', open: 'direct', link_host: 't.me' }
  expect(await shown()).toEqual({ type: 'bot', ...place })

  await page.getByLabel('Opens').selectOption('A Mini App')
  await page.getByLabel('Short name of the app').fill('play')
  await page.getByLabel('Open through a page').check()
  await expect(page.getByText('https://t.me/led_bot/play?startapp=promo-{click_id}')).toBeVisible()
  await expect(page.getByText(`data-bot="${String(bot.id)}"></script>`)).toBeVisible()
  await page.getByRole('button', { name: 'Save campaign' }).click()
  await expect(page.getByText('To the bot is saved').first()).toBeVisible()
  expect(await shown()).toEqual({ type: 'mini_app', app: 'play', ...place, open: 'page' })
  await page.reload()
  await expect(page.getByLabel('Short name of the app')).toHaveValue('play')
  await expect(page.getByLabel('Open through a page')).toBeChecked()
  await page.setViewportSize({ width: 390, height: 844 })
  await expect(page.getByText(`data-bot="${String(bot.id)}"></script>`)).toBeVisible()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
})

test('a path of a flow ends in a Mini App, on the canvas and in the table @detail', async ({ page, owner }) => {
  const bot = await send(owner, 'POST', '/api/bots', { token: '9002:AAE-flow', username: 'flow_app_bot' })
  const flow = await send(owner, 'POST', '/api/click-flows', {
    name: 'To the app',
    graph: { nodes: [{ id: 'entry', type: 'entry' }], edges: [] },
  })
  await page.goto(`/click-flows/${String(flow.id)}`)
  await page.getByLabel('View', { exact: true }).selectOption('canvas')
  await page.getByRole('button', { name: /Add a step after/ }).click()
  await page.getByRole('menuitem', { name: 'Mini App' }).click()
  const form = page.getByRole('region', { name: /^Mini App / })
  await form.getByLabel('Bot', { exact: true }).selectOption('@flow_app_bot')
  await form.getByLabel('Short name of the app').fill('play')
  await form.getByLabel('Start parameter').fill('x')
  await expect(form.getByText('Must end with {click_id}')).toBeVisible()
  await form.getByLabel('Start parameter').fill('x-{click_id}')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await expect(page.getByRole('button', { name: 'Save draft' })).toHaveAccessibleDescription('Everything is saved.')
  const { graph } = await send(owner, 'GET', `/api/click-flows/${String(flow.id)}`)
  expect((graph as { nodes: object[] }).nodes[1]).toMatchObject({
    type: 'mini_app',
    bot_id: bot.id,
    app: 'play',
    start: 'x-{click_id}',
  })
  await page.getByLabel('View', { exact: true }).selectOption('table')
  await expect(page.getByLabel('Kind')).toHaveValue('mini_app')
  await expect(page.getByLabel('Bot', { exact: true })).toHaveValue(String(bot.id))
})

test('the page that opens the app tries it, and has a button', async ({ browser, owner, sluice }) => {
  const bot = await send(owner, 'POST', '/api/bots', { token: '9003:AAE-page', username: 'page_bot' })
  const destination = { type: 'bot', bot_id: bot.id, open: 'page' }
  await send(owner, 'POST', '/api/campaigns', { name: 'By a page', key: 'by-a-page', destination })
  const context = await browser.newContext({ userAgent, storageState: { cookies: [], origins: [] } })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', message => void (message.type() === 'error' && complaints.push(message.text())))
  const devtools = await context.newCDPSession(page)
  await devtools.send('Page.enable')
  const tried = new Promise<string>(resolve => devtools.on('Page.frameRequestedNavigation', ({ url }) => resolve(url)))
  await page.goto(`${sluice.address}/c/by-a-page`)
  const button = page.getByRole('link', { name: 'Open Telegram' })
  const link = (await button.getAttribute('href')) ?? ''
  const id = new URL(link).searchParams.get('start') ?? ''
  expect(link).toBe(`https://t.me/page_bot?start=${id}`)
  expect(await tried).toBe(`tg://resolve?domain=page_bot&start=${id}`)
  await expect(button).toBeVisible()
  expect(complaints.filter(text => /Content Security Policy/i.test(text))).toEqual([])
  await context.close()
})

test('a Mini App on a site of its own posts its launch, with or without Telegram’s script', async ({
  browser,
  owner,
  sluice,
}) => {
  const token = '9004:AAE-app'
  const bot = await send(owner, 'POST', '/api/bots', { token, username: 'app_bot' })
  const destination = { type: 'mini_app', bot_id: bot.id }
  await send(owner, 'POST', '/api/campaigns', { name: 'App', key: 'to-the-app', destination })
  const telegram = '<script>window.Telegram={WebApp:{initData:decodeURIComponent(location.search.slice(1))}}</script>'
  const server = createServer(({ url = '' }, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    const script = `<script src="${sluice.address}/sluice.js" data-bot="${String(bot.id)}"></script>`
    response.end(`<!doctype html>${url.startsWith('/with?') ? telegram : ''}${script}<h1>App</h1>`)
  }).listen(0, 'localhost')
  await once(server, 'listening')
  const site = `http://localhost:${(server.address() as AddressInfo).port}`
  const launches = async () => {
    const { data } = await send(owner, 'GET', '/api/events?type=miniapp_launch')
    return (data as { click_id: string }[]).map(({ click_id }) => click_id)
  }
  const clicks: string[] = []
  for (const way of ['with', 'without']) {
    const visit = await owner.get('/c/to-the-app', { maxRedirects: 0, headers: { 'user-agent': userAgent } })
    const id = new URL(visit.headers()['location'] ?? '').searchParams.get('startapp') ?? ''
    clicks.unshift(id)
    const launch = sign({ user: { id: 4711, first_name: 'Ada' }, start_param: id } as never, token, new Date())
    const page = await (await browser.newContext({ userAgent })).newPage()
    await page.goto(
      way === 'with'
        ? `${site}/with?${encodeURIComponent(launch)}`
        : `${site}/without#tgWebAppData=${encodeURIComponent(launch)}&tgWebAppVersion=9.1`,
    )
    await expect.poll(launches).toEqual(clicks)
    await page.context().close()
  }
  server.closeAllConnections()
  server.close()
})
