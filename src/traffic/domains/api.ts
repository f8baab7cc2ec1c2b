/** Domains over HTTP: names of an organization's own, under which its campaigns open. Sessions only: no right of a key reaches here. */
import { z } from 'zod'
import { Address } from '../../contract/address.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, FAITHFUL, Id, Instant, Page } from '../../contract/fields.ts'
import { paging, Search } from '../../contract/paging.ts'

export const DOMAIN_STATUSES = ['pending', 'active', 'failing', 'lost'] as const
export type DomainStatus = (typeof DOMAIN_STATUSES)[number]

const FixedAddress = Address.refine(text => !/[{}]/.test(text), {
  message: 'takes no macros: it is the same for everybody',
})

/** What is answered at a place of the domain that is no link. */
export const Place = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('not_found') }),
    z
      .object({ type: z.literal('redirect'), url: z.string() })
      .meta({ description: 'To this address as it is: neither path nor query is passed on' }),
    z.object({ type: z.literal('campaign'), campaign_id: Id }).meta({ description: 'As if the link of it was opened' }),
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
    'optional: both schemes record clicks; only: http leads to https once a certificate is in service, and is served before that',
})
const Robots = z
  .enum(ROBOTS)
  .meta({ description: 'refuse: robots.txt keeps search engines out, and nothing that is shown may be listed' })

/** Why a domain does not work, each with its cure in words. */
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

const Problem = z
  .object({
    code: z.enum(PROBLEMS),
    text: z.string().meta({ description: 'What is the matter' }),
    cure: z.string().meta({ description: 'What to do about it' }),
  })
  .meta({ id: 'DomainProblem' })
export type Problem = z.output<typeof Problem>

const DnsRecord = z
  .object({
    type: z.enum(['A', 'AAAA', 'CNAME', 'TXT']),
    name: z.string(),
    value: z.string(),
    why: z.enum(['pointing', 'proof']),
    reason: z.string().optional().meta({ description: 'Why proof is asked for' }),
    is_needed: z.boolean().meta({ description: 'False: another record does the same' }),
    found: z.array(z.string()).meta({ description: 'What the last check found in its place' }),
  })
  .meta({ id: 'DomainRecord' })
export type DnsRecord = z.output<typeof DnsRecord>

const Check = z.object({
  checked_at: Instant,
  next_at: Instant.nullable().meta({ description: 'null: not by itself any more' }),
  arrived: z.boolean().meta({ description: 'Whether a request for the name came here' }),
  addresses: z.array(z.string()),
  problems: z.array(Problem),
})

const Certificate = z
  .object({
    state: z.enum(['off', 'waiting', 'limited', 'ordering', 'active', 'failing', 'external']).meta({
      description:
        'off: nothing answers by https; limited: the workspace has ordered its 100 new certificates of a day, and next_try_at says when it goes on; external: the certificate is that of a server in front',
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
    name: z.string().meta({ description: 'As in DNS: lower case, in ASCII. Never changes' }),
    unicode_name: z.string(),
    status: z.enum(DOMAIN_STATUSES).meta({
      description:
        'pending: not proven yet; active; failing: proven, but the last checks over an hour failed; lost: another organization has proven it',
    }),
    is_default: z.boolean().meta({ description: 'Campaigns that name no domain are shown on it' }),
    https: Https,
    root: Place,
    unknown_path: Place,
    robots: Robots,
    records: z.array(DnsRecord).meta({ description: 'What to set in DNS' }),
    check: Check.nullable().meta({ description: 'null: it runs for the first time' }),
    certificate: Certificate,
    flagged: z
      .object({ threats: z.array(z.string()), since: Instant })
      .nullable()
      .meta({ description: 'What Google Web Risk suspects, where WEB_RISK_KEY is set' }),
    campaigns: z.int().min(0).meta({ description: 'Campaigns, archived ones too, whose address is shown on it' }),
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
    .meta({ description: 'Such as go.example.com. https:// and a path are cut off', examples: ['go.example.com'] }),
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
    is_default: z.boolean().meta({ description: 'true takes it from the domain that has it' }),
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
    trouble: z.literal('true').optional().meta({ description: 'Those that fail, or that Google suspects' }),
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
  summary: 'Add a domain',
  description:
    'Answers at once, with the records to set; a check begins. It opens campaigns as soon as requests for it come here, and until then blocks nobody else from adding it.',
  body: DomainDraft,
  reply: Domain,
  status: 201,
  refuses: ['already_exists', 'domain_limit', 'invalid_request'],
})

export const updateDomain = endpoint({
  route: 'PATCH /api/domains/:id',
  access: { session: 'admin' },
  summary: 'Change a domain',
  description: 'Fields that are not sent stay as they are.',
  body: DomainChanges,
  reply: Domain,
  refuses: ['object_not_found', 'invalid_request'],
})

export const deleteDomain = endpoint({
  route: 'DELETE /api/domains/:id',
  access: { session: 'admin' },
  summary: 'Delete a domain',
  description:
    'From the answer on its links lead nowhere, and campaigns that were shown on it are shown on the default domain, else on the main host. No other organization gets the name without proof by TXT.',
  reply: Done,
  refuses: ['object_not_found'],
})

export const checkDomain = endpoint({
  route: 'POST /api/domains/:id/check',
  access: { session: 'admin' },
  summary: 'Check a domain now',
  description: 'Takes ten seconds at most. Within ten seconds of the last check that one is answered.',
  reply: Domain,
  refuses: ['object_not_found'],
})

export const answerProbe = endpoint({
  route: 'GET /.well-known/proof/:nonce',
  access: 'anyone',
  visit: true,
  hosts: 'any',
  summary: 'Prove that requests for a name come here',
  description: 'What a check of a domain asks, and nobody else has a use for.',
  answers: {
    200: { words: 'The name that was seen, and its proof', type: 'text/plain' },
    404: { words: 'This is no nonce', type: 'text/plain' },
  },
})

export const askTls = endpoint({
  route: 'GET /tls-ask',
  access: 'anyone',
  visit: true,
  summary: 'Whether a proxy may order a certificate for a name',
  description:
    'For the on-demand TLS of a proxy, by ?domain=. Answers who connects from this machine or a trusted proxy, without X-Forwarded-For: what was proxied cannot ask it.',
  answers: {
    200: { words: 'It may', type: 'text/plain' },
    404: { words: 'It may not, or nobody here may ask', type: 'text/plain' },
  },
})
