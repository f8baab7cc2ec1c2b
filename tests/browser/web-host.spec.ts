// A host that is a web page without a server: the SDK's client in a page of another site goes from the address alone to a tool call.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { expect, test } from './dashboard.ts'

async function bundled(): Promise<string> {
  const bundle = await rolldown({ input: join(import.meta.dirname, 'web-host-page.ts'), platform: 'browser' })
  const { output } = await bundle.generate({ format: 'iife', codeSplitting: false })
  return output[0].code
}

test('a web page of another site connects, calls a tool with its token, and reads nothing by the person’s cookie', async ({
  page,
  sluice,
}) => {
  const script = await bundled()
  const server = createServer(({ url = '' }, reply) => {
    if (url.startsWith('/page.js')) return reply.setHeader('content-type', 'text/javascript').end(script)
    return reply.setHeader('content-type', 'text/html').end('<body><script src="/page.js"></script></body>')
  })
  await new Promise<void>(resolve => server.listen(0, 'localhost', resolve))
  // By another name, because cookies do not tell ports apart.
  const host = `http://localhost:${(server.address() as AddressInfo).port}/`
  // A page of its own, because the browser logs refusals, with which a connection begins, as errors.
  const tab = await page.context().newPage()
  const complaints: string[] = []
  tab.on('console', message => complaints.push(message.text()))
  await tab.goto(`${host}?connect=${encodeURIComponent(`${sluice.address}/mcp`)}`)
  await expect(tab.getByRole('heading', { name: 'Connect Web page host' })).toBeVisible()
  await tab.getByRole('button', { name: 'Connect', exact: true }).click()
  await expect(tab.getByText('"tools":25')).toBeVisible()
  const said = JSON.parse((await tab.locator('body').textContent()) ?? '') as {
    content: { text: string }[]
    keys: string
  }
  expect(JSON.parse(said.content[0]?.text ?? '')).toHaveProperty('totals')
  expect(said.keys).toBe('unreadable')
  const blocked = complaints.filter(text => text.includes('CORS') && !text.includes('/api/api-keys'))
  expect(blocked).toEqual([])
  await tab.close()
  server.close()
})
