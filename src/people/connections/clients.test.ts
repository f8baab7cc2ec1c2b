// Client id metadata documents: an AI host that publishes who it is, and documents that are not believed.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { after, before, test } from 'node:test'
import { makeAuthority } from '../../../tests/support/certificates.ts'
import { ORIGIN, type TestHouse, useHouse } from '../../../tests/support/house.ts'
import { type SignedIn, seedSignedIn } from '../../../tests/support/people.ts'

const REDIRECT = 'https://host.example/callback'

let house: TestHouse
let owner: SignedIn
let server: Server
let base: string
const trusted = getCACertificates('default')
const asked: string[] = []

/** What each path answers, given the document that would be believed. */
const ANSWERS: Record<string, (response: ServerResponse, document: object) => void> = {
  '/host.json': (response, document) => json(response, document),
  '/versioned': (response, document) => json(response, document, 'application/cimd+json; charset=utf-8'),
  '/page': (response, document) => json(response, document, 'text/html'),
  '/upload': (response, document) => json(response, document, 'application/octet-stream'),
  '/untyped': (response, document) => response.end(JSON.stringify(document)),
  '/of-another': (response, document) => json(response, { ...document, client_id: `${base}/host.json` }),
  '/moved': response => response.writeHead(302, { location: '/host.json' }).end(),
  '/large': (response, document) => json(response, { ...document, padding: 'x'.repeat(65_536) }),
  '/script': (response, document) => json(response, { ...document, redirect_uris: ['javascript:alert(1)'] }),
  '/broken': response => response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
}

const json = (response: ServerResponse, document: object, type = 'application/json') =>
  response.writeHead(200, { 'content-type': type }).end(JSON.stringify(document))

function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
  asked.push(url)
  const known = ANSWERS[url]
  if (known === undefined) response.writeHead(404).end()
  else known(response, { client_id: base + url, client_name: 'Document host', redirect_uris: [REDIRECT] })
}

before(async () => {
  house = await useHouse()
  owner = await seedSignedIn(house)
  const authority = await makeAuthority()
  const { chain, key } = await authority.issue({ names: ['localhost'] })
  setDefaultCACertificates([...trusted, authority.root])
  server = createServer({ cert: chain, key }, answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `https://localhost:${(server.address() as AddressInfo).port}`
})
after(async () => {
  server.close()
  server.closeAllConnections()
  setDefaultCACertificates(trusted)
  await house.end()
})

async function asking(client_id: string, redirect_uri = REDIRECT) {
  const request = {
    client_id,
    redirect_uri,
    response_type: 'code',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
    resource: `${ORIGIN}/mcp`,
  }
  return house.call('GET', `/api/connections/request?${new URLSearchParams(request).toString()}`, owner)
}

test('a host with a document is shown by its name and the domain that published it', async () => {
  for (const path of ['/host.json', '/versioned']) {
    const shown = await asking(base + path)
    assert.equal(shown.statusCode, 200, shown.body)
    const { host_name, host_domain, redirect_host } = shown.data()
    assert.deepEqual([host_name, host_domain, redirect_host], ['Document host', new URL(base).host, 'host.example'])
  }
  assert.equal(
    (await asking(`${base}/host.json`, 'https://evil.example/')).data()['code'],
    'connection_redirect_unknown',
  )
})

test('a document of another host, of another type, that moved, is too large or is none is not believed', async () => {
  for (const path of [
    '/of-another',
    '/page',
    '/upload',
    '/untyped',
    '/moved',
    '/large',
    '/script',
    '/broken',
    '/missing',
  ]) {
    asked.length = 0
    const shown = await asking(base + path)
    assert.deepEqual([shown.statusCode, shown.data()['code']], [400, 'connection_client_unknown'], path)
    // No redirect was followed.
    assert.deepEqual(asked, [path])
  }
})
