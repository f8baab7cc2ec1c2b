/** The health and metrics endpoints, for the operator's monitoring. */
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
    '200 while the database answers, otherwise 503. Without the database, redirects still work and clicks go to the journal. `degraded` has the reasons, in words, if requests can be served but something is wrong, such as a nearly full disk.',
  visit: true,
  reply: z.object({ ok: z.literal(true), degraded: z.array(z.string()).optional() }),
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
  description: 'Contains no data of organizations. Let only your own scraper reach it.',
  visit: true,
  answers: { 200: { words: "Prometheus' text format", type: 'text/plain' } },
})
