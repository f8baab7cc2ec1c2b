/** The endpoints of certificates: the proof for an authority, and the warnings of the dashboard. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Id, Instant, Page } from '../../contract/fields.ts'

/**
 * How many orders for names without a certificate a workspace may start within a day, including failed ones. The account has 250 orders in three
 * hours, 2,000 a day, so that one workspace takes at most a twentieth of them. A workspace with 200 domains, the limit, needs two days.
 */
export const MOST_NEW_A_DAY = 100

const CertificateNotice = z
  .object({
    name: z.string(),
    domain_id: Id.nullable().meta({ description: 'null: the name belongs to the main host' }),
    not_after: Instant.nullable().meta({ description: 'When it expires or expired; null: there is no certificate' }),
    problem: z.string().nullable().meta({ description: 'Why the last order failed' }),
    next_try_at: Instant.nullable(),
  })
  .meta({ id: 'CertificateNotice' })

export const listCertificateNotices = endpoint({
  route: 'GET /api/certificate-notices',
  access: { session: 'member' },
  summary: 'List the certificates that need attention',
  description:
    'Certificates that could not be obtained or renewed in five tries, and certificates that expire within seven days (or within a fifth of a shorter lifetime). Names of the main host are listed only for owners of the first organization. Empty without TLS=auto.',
  reply: Page(CertificateNotice),
})

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
