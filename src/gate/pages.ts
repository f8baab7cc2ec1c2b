/**
 * Serves the dashboard and the API reference, with a strict content security policy. A page is never sent where a program expects an API
 * answer.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import helmet from '@fastify/helmet'
import files from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { REFUSALS } from '../contract/refusal-catalogue.ts'
import { refuse } from '../contract/refusals.ts'
import type { Declared } from '../ground/room.ts'
import type { Identities } from './identify.ts'
import { openApi } from './openapi.ts'
import { refuseUnknownRoute } from './unknown-route.ts'

const DIST = join(import.meta.dirname, '../../dist')
const DOCS = join(import.meta.dirname, 'docs')
const SWAGGER = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))

/** The paths without pages. Unknown addresses below them get a JSON 404. */
const PROGRAM_PATHS = '(api|mcp|oauth|\\.well-known|assets|c|o|l|v|k|m|postback|hooks|healthz|readyz|metrics)'
const NO_PAGES = new RegExp(`^/${PROGRAM_PATHS}(/|$|\\?)`)
/** Misspellings of those paths. They get a 404 too, because a program would take a page with status 200 for success. */
const MISSPELLED = new RegExp(`^/+${PROGRAM_PATHS}(/|$|\\?|%2f)`, 'i')
/** The pages and files below those paths. */
const IS_PAGE = /^\/(assets\/|api\/(docs|openapi))/
const SPELLING = { hint: 'Spell paths as in /api/docs: lower case, single slashes, none at the end.' }

const YEAR_SECONDS = 31_536_000
const page = { config: { endpoint: 'page' as const } }

/** Serves the built dashboard, the API reference and its OpenAPI document, and answers 404 elsewhere. */
export async function servePages(
  app: FastifyInstance,
  furnished: readonly Declared[],
  identities: Identities,
  version: string,
): Promise<void> {
  app.setNotFoundHandler(request => refuseUnknownRoute(request, identities))
  await app.register(async scope => {
    scope.addHook('onRequest', async (request, reply) => {
      const { url, visited } = request
      if (visited.is === 'other' && (!NO_PAGES.test(url) || IS_PAGE.test(url))) return misdirected(reply)
    })
    await scope.register(helmet, {
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          scriptSrc: ["'self'"],
          styleSrc: ["'self'"],
          imgSrc: ["'self'", 'data:'],
          connectSrc: ["'self'"],
          fontSrc: ["'self'"],
          frameAncestors: ["'none'"],
          baseUri: ["'none'"],
          formAction: ["'self'"],
        },
      },
      // Browsers ignore HSTS over HTTP. Over HTTPS, public-servers.ts or the proxy in front sends it.
      strictTransportSecurity: false,
      referrerPolicy: { policy: 'no-referrer' },
    })
    // The build writes compressed files beside the others, so nothing is compressed per request.
    await scope.register(files, { root: DIST, serve: false, preCompressed: true })
    let document: Promise<string> | undefined
    // The document is built on the first request, because few installations need it and the start should not wait for it.
    serveReference(scope, () => (document ??= openApi(furnished, version).then(built => JSON.stringify(built))))
    serveDashboard(scope, identities)
  })
}

/** A plain text for people who opened the machine's IP address, or came through a proxy that changes the Host header. */
function misdirected(reply: FastifyReply): FastifyReply {
  const { status, error, hint } = REFUSALS.misdirected_request
  return reply
    .code(status)
    .header('cache-control', 'no-store')
    .type('text/plain; charset=utf-8')
    .send(`${error}\n\n${hint}\n`)
}

function serveReference(scope: FastifyInstance, document: () => Promise<string>): void {
  scope.get('/api/openapi.json', page, async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(await document()),
  )
  scope.get('/api/docs', page, (_request, reply) => reply.sendFile('index.html', DOCS, { maxAge: 0 }))
  scope.get('/api/docs/start.js', page, (_request, reply) => reply.sendFile('start.js', DOCS))
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js'])
    scope.get(`/api/docs/${name}`, page, (_request, reply) => reply.sendFile(name, SWAGGER))
}

function serveDashboard(scope: FastifyInstance, identities: Identities): void {
  scope.get('/assets/*', page, (request, reply) => sendAsset(request, reply))
  scope.route({
    method: ['GET', 'HEAD'],
    url: '/*',
    ...page,
    handler: async (request, reply) => {
      if (NO_PAGES.test(request.url)) return refuseUnknownRoute(request, identities)
      if (MISSPELLED.test(request.url)) refuse('route_not_found', SPELLING)
      const file = decodeURIComponent(request.url.split('?', 1)[0] ?? '').slice(1)
      // Files such as the icon are beside index.html. Every other address is a page of the dashboard.
      if (/^[\w-]+\.(svg|ico|png|txt|webmanifest)$/.test(file) && existsSync(join(DIST, file)))
        return reply.sendFile(file)
      if (existsSync(join(DIST, 'index.html')))
        return reply.header('cache-control', 'no-cache').sendFile('index.html', { cacheControl: false })
      return reply.code(503).type('text/plain').send('The dashboard is not built: run npm run build.\n')
    },
  })
}

function sendAsset(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const file = `assets/${(request.params as { '*': string })['*']}`
  return reply.sendFile(file, { maxAge: YEAR_SECONDS * 1000, immutable: true })
}
