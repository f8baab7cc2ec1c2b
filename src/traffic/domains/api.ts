/** The endpoints of domains: an organization's own names for campaign links. Only for sessions, not for API keys. */
import { z } from 'zod'
import { Address } from '../../contract/address.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, FAITHFUL, Id, Instant, Page } from '../../contract/fields.ts'
import { paging, Search } from '../../contract/paging.ts'

export const DOMAIN_STATUSES = ['pending', 'active', 'failing', 'lost'] as const
export type DomainStatus = (typeof DOMAIN_STATUSES)[number]

const FixedAddress = Address.refine(text => !/[{}]/.test(text), {
  message: 'must not contain macros',
})

/** What a domain answers at a path that is no campaign link. */
export const Place = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('not_found') }),
    z
      .object({ type: z.literal('redirect'), url: z.string() })
      .meta({ description: 'Redirects to this address; path and query are not passed on' }),
    z.object({ type: z.literal('campaign'), campaign_id: Id }).meta({ description: 'Opens this campaign' }),
  ])
  .meta({ id: 'DomainPlace' })
export type Place = z.output<typeof Place>

const PlaceDraft = z.discriminatedUnion('type', [
  z.object({ type: z.literal('not_found') }),
  z.object({ type: z.literal('redirect'), url: FixedAddress }),
  z.object({ type: z.literal('campaign'), campaign_id: Id }),
])

export const HTTPS_MODES = ['optional', 'only'] as const
export const ROBOTS = ['refuse', 'allow'] as const
const Https = z.enum(HTTPS_MODES).meta({
  description:
    'optional: links work with http and https; only: http redirects to https once there is a certificate, and works until then',
})
const Robots = z.enum(ROBOTS).meta({ description: 'refuse: robots.txt and a header keep search engines out' })

/** The reasons why a domain does not work. */
const PROBLEMS = [
  'no_such_name',
  'points_elsewhere',
  'ipv6_elsewhere',
  'mixed_addresses',
  'port_80_closed',
  'other_server',
  'host_not_forwarded',
  'redirect_loop',
  'txt_missing',
  'txt_wrong',
  'held_by_other',
  'caa_forbids',
  'dns_broken',
  'dns_silent',
  'https_only_zone',
] as const
export type ProblemCode = (typeof PROBLEMS)[number]

const DomainProblem = z
  .object({
    code: z.enum(PROBLEMS),
    text: z.string().meta({ description: 'What is wrong' }),
    cure: z.string().meta({ description: 'How to fix it' }),
  })
  .meta({ id: 'DomainProblem' })
export type DomainProblem = z.output<typeof DomainProblem>

const DnsRecord = z
  .object({
    type: z.enum(['A', 'AAAA', 'CNAME', 'TXT']),
    name: z.string(),
    value: z.string(),
    why: z.enum(['pointing', 'proof']),
    reason: z.string().optional().meta({ description: 'Why the proof is needed' }),
    is_needed: z.boolean().meta({ description: 'False: an alternative to another record' }),
    found: z.array(z.string()).meta({ description: 'What the last check found' }),
  })
  .meta({ id: 'DomainRecord' })
export type DnsRecord = z.output<typeof DnsRecord>

const Check = z.object({
  checked_at: Instant,
  next_at: Instant.nullable().meta({ description: 'null: there is no further automatic check' }),
  arrived: z.boolean().meta({ description: 'Whether a request for the name reached Sluice' }),
  addresses: z.array(z.string()),
  problems: z.array(DomainProblem),
})

const Certificate = z
  .object({
    state: z.enum(['off', 'waiting', 'limited', 'ordering', 'active', 'failing', 'external']).meta({
      description:
        'off: the name has no https; limited: the workspace has reached its 100 new certificates a day, and next_try_at says when it continues; external: a server in front of Sluice has the certificate',
    }),
    issuer: z.string().nullable(),
    not_after: Instant.nullable(),
    renews_at: Instant.nullable(),
    problem: z.string().nullable(),
    next_try_at: Instant.nullable(),
  })
  .meta({ id: 'DomainCertificate' })
export type Certificate = z.output<typeof Certificate>

export const Domain = z
  .object({
    id: Id,
    name: z.string().meta({ description: 'As in DNS: lower case ASCII. Never changes' }),
    unicode_name: z.string(),
    status: z.enum(DOMAIN_STATUSES).meta({
      description:
        'pending: not proven yet; active; failing: proven, but all checks of the last hour failed; lost: another organization has proven it',
    }),
    is_default: z.boolean().meta({ description: 'Links of campaigns without their own domain use it' }),
    https: Https,
    root: Place,
    unknown_path: Place,
    robots: Robots,
    records: z.array(DnsRecord).meta({ description: 'The DNS records to set' }),
    check: Check.nullable().meta({ description: 'null: the first check is running' }),
    certificate: Certificate,
    flagged: z
      .object({ threats: z.array(z.string()), since: Instant })
      .nullable()
      .meta({ description: 'The threats that Google Web Risk lists; only if WEB_RISK_KEY is set' }),
    campaigns: z.int().min(0).meta({ description: 'Campaigns, including archived ones, whose link uses it' }),
    last_visit_at: Instant.nullable(),
    proven_at: Instant.nullable(),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'Domain' })
export type Domain = z.output<typeof Domain>

const DomainDraft = z.object({
  name: z
    .string()
    .trim()
    .min(1)
    .max(2048)
    .refine(...FAITHFUL)
    .meta({ description: 'Such as go.example.com. A scheme and a path are cut off', examples: ['go.example.com'] }),
  https: Https.nullish(),
  root: PlaceDraft.nullish(),
  unknown_path: PlaceDraft.nullish(),
  robots: Robots.nullish(),
})

export const DomainChanges = z
  .object({
    https: Https,
    root: PlaceDraft,
    unknown_path: PlaceDraft,
    robots: Robots,
    is_default: z.boolean().meta({ description: 'true: the previous default domain is no longer the default' }),
  })
  .partial()

export const listDomains = endpoint({
  route: 'GET /api/domains',
  access: { session: 'member' },
  summary: 'List domains, newest first',
  query: z.object({
    ...paging,
    q: Search.meta({ description: 'Part of the name' }),
    status: z.enum(DOMAIN_STATUSES).optional(),
  }),
  reply: Page(Domain),
})

export const readDomain = endpoint({
  route: 'GET /api/domains/:id',
  access: { session: 'member' },
  summary: 'Read a domain',
  reply: Domain,
  refuses: ['object_not_found'],
})

export const createDomain = endpoint({
  route: 'POST /api/domains',
  access: { session: 'admin' },
  history: { in: 'domain' },
  summary: 'Add a domain',
  description:
    'Answers at once with the DNS records to set, and starts a check. Campaign links work once requests for the name reach Sluice. Until then other organizations can add it too.',
  body: DomainDraft,
  reply: Domain,
  status: 201,
  refuses: ['already_exists', 'domain_limit', 'invalid_request'],
})

export const updateDomain = endpoint({
  route: 'PATCH /api/domains/:id',
  access: { session: 'admin' },
  history: 'domain',
  summary: 'Change a domain',
  description: 'Fields that are not sent do not change.',
  body: DomainChanges,
  reply: Domain,
  refuses: ['object_not_found', 'invalid_request'],
})

export const deleteDomain = endpoint({
  route: 'DELETE /api/domains/:id',
  access: { session: 'admin' },
  history: 'domain',
  summary: 'Delete a domain',
  description:
    'Its links stop working at once. Links of its campaigns use the default domain, or else the main host. Another organization can get the name only with a TXT record.',
  reply: Done,
  refuses: ['object_not_found'],
})

export const checkDomain = endpoint({
  route: 'POST /api/domains/:id/check',
  access: { session: 'admin' },
  history: { none: 'a check stores what it finds, nobody chooses it' },
  summary: 'Check a domain now',
  description: 'Takes at most ten seconds. If the last check is less than ten seconds old, its result is answered.',
  reply: Domain,
  refuses: ['object_not_found'],
})

export const answerProbe = endpoint({
  route: 'GET /.well-known/proof/:nonce',
  access: 'anyone',
  visit: true,
  hosts: 'any',
  summary: 'Prove that requests for a name reach Sluice',
  description: 'Called only by the checks of domains.',
  answers: {
    200: { words: 'The name of the request, and the proof', type: 'text/plain' },
    404: { words: 'The nonce is malformed', type: 'text/plain' },
  },
})

export const askTls = endpoint({
  route: 'GET /tls-ask',
  access: 'anyone',
  visit: true,
  summary: 'Tell a proxy whether it may order a certificate',
  description:
    'For the on-demand TLS of a proxy, with ?domain=. Answers only connections from this machine or a trusted proxy without X-Forwarded-For, so visitors behind the proxy cannot ask.',
  answers: {
    200: { words: 'The proxy may order one', type: 'text/plain' },
    404: { words: 'It may not, or the caller may not ask', type: 'text/plain' },
  },
})
