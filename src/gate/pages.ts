/** Files for browsers: the dashboard, the API reference. Strict content policy; never a page where an API answer belongs. */
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

/** Where no page may stand: what is not found there is said in JSON. */
const PLACES = '(api|\\.well-known|assets|c|o|l|m|postback|hooks|healthz|readyz|metrics)'
const NO_PAGES = new RegExp(`^/${PLACES}(/|$|\\?)`)
/** The same in another spelling: a page with status 200 would tell a program that all is well. */
const ALIKE = new RegExp(`^/+${PLACES}(/|$|\\?|%2f)`, 'i')
/** Pages and files among them. */
const IS_PAGE = /^\/(assets\/|api\/(docs|openapi))/
const SPELLING = { hint: 'Paths are spelled as in /api/docs: lower case, one slash at a time, none at the end.' }

const YEAR_SECONDS = 31_536_000
const page = { config: { endpoint: 'page' as const } }

/** Serves the built dashboard, the API reference and its document, and says 404 for the rest. */
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
      // Over plain http on loopback browsers ignore it; behind TLS it is the proxy's to send.
      strictTransportSecurity: false,
      referrerPolicy: { policy: 'no-referrer' },
    })
    // The build puts compressed files beside the others; nothing is compressed anew for a request.
    await scope.register(files, { root: DIST, serve: false, preCompressed: true })
    let document: Promise<string> | undefined
    // Made when it is first asked for: a start does not wait for what few ever read.
    serveReference(scope, () => (document ??= openApi(furnished, version).then(made => JSON.stringify(made))))
    serveDashboard(scope, identities)
  })
}

/** For people: they have come by an address of the machine, or through a proxy that keeps the name to itself. */
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
      if (ALIKE.test(request.url)) refuse('route_not_found', SPELLING)
      const file = decodeURIComponent(request.url.split('?', 1)[0] ?? '').slice(1)
      // The icon and its like stand beside index.html; every other address is the dashboard's own.
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
