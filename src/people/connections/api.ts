/**
 * Connections: AI hosts that a person connects by OAuth instead of by a key. The page at /connect shows who asks and is the grant editor; consent
 * makes an API key. The token endpoints below /oauth speak OAuth 2.1 and its own refusals (`error`, `error_description`).
 */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Id, Instant } from '../../contract/fields.ts'
import { GrantDraft } from '../keys/api.ts'

/** The path of the tool endpoint for connections. */
export const RESOURCE_PATH = '/mcp'
/** The consent page. Its `request` is the query of `/oauth/authorize` in base64url, so that no router reads values such as numbers into it. */
export const CONSENT_PATH = '/connect'
export const AUTHORIZE_PATH = '/oauth/authorize'

/** The request of a host, as the address of the consent page has it (RFC 6749, 7636, 8707). The deed refuses what it cannot serve. */
export const AuthorizationRequest = z.object({
  client_id: z.string().min(1).max(2000),
  redirect_uri: z.string().min(1).max(2000),
  response_type: z.string().max(100).optional(),
  code_challenge: z.string().max(200).optional(),
  code_challenge_method: z.string().max(100).optional(),
  resource: z.string().max(2000).optional(),
  state: z.string().max(4000).optional(),
})
export type AuthorizationRequest = z.output<typeof AuthorizationRequest>

const refuses = ['connection_client_unknown', 'connection_redirect_unknown', 'connection_request_invalid'] as const

export const readConnectionRequest = endpoint({
  route: 'GET /api/connections/request',
  access: { session: 'person' },
  summary: 'Check the request of an AI host and show who asks',
  query: AuthorizationRequest,
  reply: z.object({
    host_name: z.string(),
    host_domain: z.string().nullable().meta({
      description: 'The domain that published the host’s name and addresses; null: it registered itself, unverified',
    }),
    redirect_host: z.string().meta({ description: 'Where the browser is sent after consent' }),
    is_local: z.boolean().meta({ description: 'The address is on the person’s own machine' }),
    denied: z.string().meta({ description: 'The address that tells the host that the person declined' }),
  }),
  refuses,
})

export const createConnection = endpoint({
  route: 'POST /api/connections',
  history: { in: 'api_key' },
  access: { session: 'member' },
  summary: 'Connect an AI host: create its key with these rights',
  description:
    'Answers the address to which the browser must go next. It carries a code that the host exchanges once, within two minutes.',
  body: z.object({
    request: AuthorizationRequest,
    grant: GrantDraft,
    expires_at: Instant.nullish().meta({ description: 'When the connection ends; default: never' }),
    ask_first: z
      .boolean()
      .default(false)
      .meta({ description: 'Destructive tool calls need the confirmation of their own dry run' }),
  }),
  reply: z.object({ redirect: z.string(), key_id: Id }),
  status: 201,
  refuses: [
    ...refuses,
    'role_forbidden',
    'invalid_request',
    'grant_scope_unsupported_resource',
    'grant_organization_forbidden',
    'org_deleted',
    'delete_confirmation_required',
  ],
})

/** Hosts that are web pages without a server call these endpoints themselves. They name the revision of the protocol in each request. */
const FROM_PAGES = { sends: ['content-type', 'mcp-protocol-version'], exposes: ['retry-after'] } as const

const json = { type: 'application/json' } as const
const OAuthRefusal = z.object({ error: z.string(), error_description: z.string() }).meta({ id: 'OAuthRefusal' })

const Metadata = z.record(z.string(), z.unknown()).meta({ id: 'OAuthMetadata' })

export const readResourceMetadata = endpoint({
  route: 'GET /.well-known/oauth-protected-resource/mcp',
  access: 'anyone',
  summary: 'OAuth metadata of the tool endpoint (RFC 9728)',
  visit: true,
  cors: FROM_PAGES,
  answers: {
    200: { words: 'The metadata', ...json, reply: Metadata },
    404: { words: 'Not under this name', ...json, reply: OAuthRefusal },
  },
})

export const readServerMetadata = endpoint({
  route: 'GET /.well-known/oauth-authorization-server',
  access: 'anyone',
  summary: 'OAuth metadata of the authorization server (RFC 8414)',
  visit: true,
  cors: FROM_PAGES,
  answers: {
    200: { words: 'The metadata', ...json, reply: Metadata },
    404: { words: 'Not under this name', ...json, reply: OAuthRefusal },
  },
})

const refused = {
  400: { words: 'Refused, as OAuth has it', ...json, reply: OAuthRefusal },
  404: { words: 'Not under this name', ...json, reply: OAuthRefusal },
} as const

export const beginAuthorization = endpoint({
  route: 'GET /oauth/authorize',
  access: 'anyone',
  summary: 'Lead a browser that a host has sent to the consent page',
  visit: true,
  answers: { 302: { words: 'To the consent page', headers: ['Location'] }, ...refused },
})

export const registerClient = endpoint({
  route: 'POST /oauth/register',
  history: { none: 'a client changes nothing before a person connects it' },
  access: 'anyone',
  summary: 'Register an AI host (RFC 7591). A client that nobody connects is forgotten after a day',
  visit: true,
  cors: FROM_PAGES,
  takesRaw: true,
  answers: {
    201: { words: 'The registered client', ...json, reply: Metadata },
    ...refused,
    429: { words: 'Too many registrations', ...json, reply: OAuthRefusal, headers: ['Retry-After'] },
  },
})

export const exchangeToken = endpoint({
  route: 'POST /oauth/token',
  history: { none: 'it gives the host the tokens of its key' },
  access: 'anyone',
  summary: 'Exchange a code or a refresh token for tokens',
  description:
    'Form-encoded. A refresh token can be used once: a second use ends the connection, because one of the two users has stolen it.',
  visit: true,
  cors: FROM_PAGES,
  takesRaw: true,
  answers: {
    200: {
      words: 'The tokens',
      ...json,
      reply: z.object({
        access_token: z.string(),
        token_type: z.literal('Bearer'),
        expires_in: z.int(),
        refresh_token: z.string(),
      }),
    },
    ...refused,
  },
})

export const revokeToken = endpoint({
  route: 'POST /oauth/revoke',
  history: { in: 'api_key' },
  access: 'anyone',
  summary: 'End the connection of a token (RFC 7009)',
  visit: true,
  cors: FROM_PAGES,
  takesRaw: true,
  answers: { 200: { words: 'The connection has ended, or the token was unknown' }, ...refused },
})
