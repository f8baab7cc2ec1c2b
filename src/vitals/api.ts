/** Vitals over HTTP: what an operator's monitoring asks of the process. */
import { z } from 'zod'
import { endpoint } from '../contract/endpoint.ts'
import { Done } from '../contract/fields.ts'

export const readHealth = endpoint({
  route: 'GET /healthz',
  access: 'anyone',
  summary: 'Whether the process is alive',
  description: 'Answers 200 as long as the process can answer at all.',
  visit: true,
  reply: Done,
})

export const readReadiness = endpoint({
  route: 'GET /readyz',
  access: 'anyone',
  summary: 'Whether requests can be served',
  description:
    '200 while the database answers, else 503. While it does not, clicks go to the journal and redirects still work.',
  visit: true,
  reply: Done,
  answers: {
    503: {
      words: 'The database does not answer',
      type: 'application/json',
      reply: z.object({ ok: z.literal(false), error: z.string() }),
      headers: ['Retry-After'],
    },
  },
})

export const readMetrics = endpoint({
  route: 'GET /metrics',
  access: 'anyone',
  summary: 'Metrics for Prometheus',
  description: 'Holds nothing of any organization. Let only your own scraper reach it.',
  visit: true,
  answers: { 200: { words: "Prometheus' text form", type: 'text/plain' } },
})
