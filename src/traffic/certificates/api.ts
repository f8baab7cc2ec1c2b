/** Certificates over HTTP: where an authority looks for a proof, and what the dashboard warns of. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Id, Instant, Page } from '../../contract/fields.ts'

/**
 * Orders for names without a certificate that a workspace may begin within a day, tries that fail included. An account has 250 orders in three hours,
 * 2,000 a day, so no workspace can take more than a twentieth; one with the most domains there can be, 200, is done in two days.
 */
export const MOST_NEW_A_DAY = 100

const CertificateNotice = z
  .object({
    name: z.string(),
    domain_id: Id.nullable().meta({ description: 'null: a name of the main host' }),
    not_after: Instant.nullable().meta({ description: 'When it expires, or expired; null: there is none' }),
    problem: z.string().nullable().meta({ description: 'Why the last order failed' }),
    next_try_at: Instant.nullable(),
  })
  .meta({ id: 'CertificateNotice' })

export const listCertificateNotices = endpoint({
  route: 'GET /api/certificate-notices',
  access: { session: 'member' },
  summary: 'List the certificates that need attention',
  description:
    'Those that could not be had or renewed in five tries, and those that expire within seven days (a fifth of a shorter life). Names of the main host are listed for owners of the organization that Sluice was set up with. Empty without TLS=auto.',
  reply: Page(CertificateNotice),
})

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
