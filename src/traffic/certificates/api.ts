/** Certificates over HTTP: where an authority looks for a proof. */
import { endpoint } from '../../contract/endpoint.ts'

/**
 * How many orders for names without a certificate a workspace may start within a day, including failed ones. The account has 250 orders in three
 * hours, 2,000 a day, so that one workspace takes at most a twentieth of them. A workspace with 200 domains, the limit, needs two days.
 */
export const MOST_NEW_A_DAY = 100

export const answerChallenge = endpoint({
  route: 'GET /.well-known/acme-challenge/:token',
  access: 'anyone',
  visit: true,
  hosts: 'any',
  summary: 'Answer the challenge of a certificate authority',
  description:
    'Proves that a name leads here (RFC 8555, 8.3): over http, without a redirect, from any process of the installation. Only with TLS=auto.',
  answers: {
    200: { words: 'The key authorization of the challenge', type: 'text/plain' },
    404: { words: 'There is no open challenge with this token', type: 'text/plain' },
  },
})
