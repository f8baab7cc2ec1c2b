/** From a landing page to the offer, over HTTP: the link to the offer, the script for the page, and its beacon. */
import { endpoint } from '../../contract/endpoint.ts'

const script = {
  200: { words: 'The script, for an hour', type: 'text/javascript', headers: ['ETag'] },
  304: { words: 'The browser has it: If-None-Match names its ETag', headers: ['ETag'] },
} as const

export const serveScript = endpoint({
  route: 'GET /sluice.js',
  access: 'anyone',
  visit: true,
  hosts: 'any',
  summary: 'The script for landing pages',
  answers: script,
  description:
    'Marks the click as landed, and points links to /o at the offer of the click. With data-campaign it reports the visit of the page itself.',
})

export const serveNeutralScript = endpoint({
  route: 'GET /:name.js',
  access: 'anyone',
  visit: true,
  hosts: 'any',
  summary: 'The same script under a neutral name',
  description:
    'Each host has one name of eight letters, which no content blocker can list. It is in neutral_script of GET /api/campaigns/{id}/tag.',
  answers: {
    ...script,
    404: { words: 'It is not the name of this host', type: 'text/plain' },
  },
})

export const landVisitor = endpoint({
  route: 'POST /l/:click',
  access: 'anyone',
  history: { none: 'intake' },
  visit: true,
  hosts: 'any',
  takesRaw: true,
  summary: 'Raise a click to landed',
  description: 'The beacon of a landing page. Its body is ignored. Records no event.',
  answers: { 204: { words: 'Landed' }, 404: { words: 'The click is unknown', type: 'text/plain' } },
})

const ONWARD = 'Raises the click to landed; HEAD and prefetches do not.'

const onward = {
  302: {
    words: 'To the offer that was chosen at the click; if it is archived or deleted, to the fallback of the campaign',
    headers: ['Location'],
  },
  200: { words: 'A page that opens Telegram, if the click flow says so', type: 'text/html' },
  404: { words: 'The click is unknown or has no destination: a short page', type: 'text/html' },
  503: {
    words: 'The database cannot be asked: a short page that reloads itself',
    type: 'text/html',
    headers: ['Retry-After'],
  },
} as const

export const goOn = endpoint({
  route: 'GET /o/:click',
  access: 'anyone',
  visit: true,
  hosts: 'any',
  summary: 'Go on from a landing page to the offer',
  description: ONWARD,
  answers: onward,
})

export const goOnWithoutId = endpoint({
  route: 'GET /o',
  access: 'anyone',
  visit: true,
  hosts: 'any',
  summary: 'Go on from a landing page to the offer, without the click id in the path',
  description: `The click is the one in the query (click_id), else the one in the landing page's URL, else the visitor's last. ${ONWARD}`,
  answers: onward,
})
