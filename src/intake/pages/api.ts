/** What pages report themselves, over HTTP: visits without a redirect, the way on to the offer before the answer has come; and for the dashboard the tag, what arrived, and servers. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, Id, Instant, Name } from '../../contract/fields.ts'
import { UNTRACKED_REASONS, VIAS } from '../../contract/page-visits.ts'

const JSON_BODY =
  'The body is JSON of at most 16 KiB, whatever the Content-Type says. Every origin may call it, without cookies.'

export const countVisit = endpoint({
  route: 'POST /v/:key',
  history: { none: 'intake' },
  access: 'anyone',
  visit: true,
  hosts: 'any',
  takesRaw: true,
  cors: { sends: ['content-type'] },
  summary: 'Record a visit of a page',
  description:
    `${JSON_BODY} { t, u, r, c }: the page token (22 to 43 of A-Z a-z 0-9 _ -), the address of the page, its referrer, a click id that the browser already has. ` +
    'The same token of a campaign is the same visit for as long as its click is kept. With X-Sluice-Secret, the secret of a page server, X-Visitor-Address is the address of the visitor.',
  reply: z.object({ click_id: Id, onward: z.string().meta({ description: 'Leads on to the offer of the click' }) }),
  refuses: [
    'object_not_found',
    'site_not_listed',
    'page_server_unknown',
    'invalid_json',
    'invalid_request',
    'service_unavailable',
  ],
})

const image = { words: 'An image of one pixel', type: 'image/gif' } as const

export const countVisitByImage = endpoint({
  route: 'GET /v/:key.gif',
  access: 'anyone',
  visit: true,
  hosts: 'any',
  summary: 'Record a visit of a page, for pages without JavaScript',
  description:
    'The page is the Referer, or u. Parameters are read from the query, and those that are missing from the address of the page. Without t each load is a visit. HEAD records nothing.',
  answers: {
    200: image,
    403: { ...image, words: 'An image; the site of the page is not listed for the campaign' },
    404: { ...image, words: 'An image; no campaign has this key' },
  },
})

export const goOnFromPage = endpoint({
  route: 'GET /o/v/:token',
  access: 'anyone',
  visit: true,
  hosts: 'any',
  summary: 'Go on from a page to the offer, by the page token',
  description:
    'k is the key of the campaign, u the address of the page, r its referrer, c a click id that the browser already has. Records the visit if it is not recorded yet. From a site that is not listed it leads on and records nothing.',
  answers: {
    302: { words: 'To the offer or address that was chosen at the visit', headers: ['Location'] },
    200: { words: 'A page that opens Telegram, or says that the offer is closed', type: 'text/html' },
    404: { words: 'No visit has this token, and no campaign has the key: a short page', type: 'text/html' },
    503: {
      words: 'The database cannot be asked: a short page that reloads itself',
      type: 'text/html',
      headers: ['Retry-After'],
    },
  },
})

export const reportConversion = endpoint({
  route: 'POST /k/:click',
  history: { none: 'intake' },
  access: 'anyone',
  visit: true,
  hosts: 'any',
  takesRaw: true,
  cors: { sends: ['content-type'] },
  summary: 'Report a conversion from a page',
  description:
    `${JSON_BODY} { type, nonce, value, currency }. It is recorded on hold and counts nothing until a network, the API or a person approves it; types in browser_types of the ` +
    'campaign count at once, with a payout of 0. Without a nonce there is one for each type and click. The same again changes nothing. At most 60 a minute from one address.',
  reply: z.object({ status: z.enum(['pending', 'approved']) }),
  refuses: [
    'object_not_found',
    'site_not_listed',
    'page_server_unknown',
    'invalid_json',
    'invalid_request',
    'rate_limited',
    'service_unavailable',
  ],
})

export const reportConversionByImage = endpoint({
  route: 'GET /k/:click.gif',
  access: 'anyone',
  visit: true,
  hosts: 'any',
  summary: 'Report a conversion from a page, by an image',
  description: 'As POST /k/{click}, with the fields in the query. HEAD records nothing.',
  answers: {
    200: image,
    400: { ...image, words: 'An image; a field is not valid' },
    403: { ...image, words: 'An image; the site of the page is not listed for the campaign' },
    404: { ...image, words: 'An image; the click is unknown, or older than 30 days' },
    429: { ...image, words: 'An image; more than 60 in a minute' },
    503: { ...image, words: 'An image; the database is away' },
  },
})

export const readPageTag = endpoint({
  route: 'GET /api/campaigns/:id/tag',
  access: { session: 'member' },
  summary: 'Read the tag for the pages of a campaign',
  reply: z.object({
    script: z.string(),
    neutral_script: z.string().meta({
      description:
        'The same tag with a name that only this host has, for visitors whose content blocker stops sluice.js',
    }),
    noscript: z.string().meta({ description: 'The image for pages without JavaScript' }),
    sites: z.array(z.string()),
  }),
  refuses: ['object_not_found'],
})

export const MOST_ARRIVALS = 50

const PageArrival = z
  .object({
    received_at: Instant,
    via: z.enum(VIAS),
    page: z.string().nullable().meta({ description: 'Without query and fragment' }),
    site: z.string().nullable(),
    click_id: Id.nullable().meta({ description: 'null: it was refused' }),
    tracked: z.boolean(),
    reason: z
      .enum([...UNTRACKED_REASONS, 'site_not_listed', 'page_server_unknown'])
      .nullable()
      .meta({ description: 'Why it was refused, or does not count' }),
  })
  .meta({ id: 'PageArrival' })

export const listArrivals = endpoint({
  route: 'GET /api/campaigns/:id/arrivals',
  access: { session: 'member' },
  summary: `List what pages reported lately, newest first, at most ${MOST_ARRIVALS}`,
  description: 'Also refused visits, which are kept for 30 days.',
  reply: z.object({ data: z.array(PageArrival) }),
  refuses: ['object_not_found'],
})

const PageServer = z.object({ id: Id, name: z.string(), created_at: Instant }).meta({ id: 'PageServer' })

export const listPageServers = endpoint({
  route: 'GET /api/campaigns/:id/page-servers',
  access: { session: 'member' },
  summary: 'List the servers that report visits of a campaign’s pages',
  reply: z.object({ data: z.array(PageServer) }),
  refuses: ['object_not_found'],
})

export const createPageServer = endpoint({
  route: 'POST /api/campaigns/:id/page-servers',
  history: { none: 'the list of page servers shows when each was added' },
  access: { session: 'admin' },
  summary: 'Add a server that reports visits of a campaign’s pages',
  description: 'The secret is shown this once. The server sends it as X-Sluice-Secret with POST /v/{key}.',
  body: z.object({ name: Name() }),
  reply: PageServer.extend({ secret: z.string() }),
  status: 201,
  refuses: ['object_not_found', 'invalid_request'],
})

export const deletePageServer = endpoint({
  route: 'DELETE /api/campaigns/:id/page-servers/:server_id',
  history: { none: 'the list of page servers shows when each was added' },
  access: { session: 'admin' },
  summary: 'Remove a page server',
  reply: Done,
  refuses: ['object_not_found'],
})
