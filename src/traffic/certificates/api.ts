/** Where an authority looks whether a name leads here, before it gives a certificate. */
import { endpoint } from '../../contract/endpoint.ts'

export const answerChallenge = endpoint({
  route: 'GET /.well-known/acme-challenge/:token',
  access: 'anyone',
  visit: true,
  hosts: 'any',
  summary: 'What a certificate authority asks for, to see that a name leads here',
  description:
    'Over http, without a redirect, by any process of the installation (RFC 8555, 8.3). Only with TLS=auto is there anything to find.',
  answers: {
    200: { words: 'The key authorization of the challenge', type: 'text/plain' },
    404: { words: 'No challenge of this token is open', type: 'text/plain' },
  },
})
