/** Vitals over HTTP: what an operator's monitoring asks of the process. */
import { endpoint } from '../contract/endpoint.ts'

export const readHealth = endpoint({
  route: 'GET /healthz',
  access: 'anyone',
  summary: 'Whether the process is alive',
  description: 'Answers 200 as long as the process can answer at all.',
  visit: true,
})

export const readReadiness = endpoint({
  route: 'GET /readyz',
  access: 'anyone',
  summary: 'Whether requests can be served',
  description:
    '200 while the database answers, else 503. While it does not, clicks go to the journal and redirects still work.',
  visit: true,
})

export const readMetrics = endpoint({
  route: 'GET /metrics',
  access: 'anyone',
  summary: 'Metrics for Prometheus',
  description: 'Holds nothing of any organization. Let only your own scraper reach it.',
  visit: true,
})
