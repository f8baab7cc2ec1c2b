/** API keys and their grants. Only a dashboard session may use these endpoints; no key reads or changes keys. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, Id, Instant, Name, Page } from '../../contract/fields.ts'

/** Only calls with an `accepted` key are let in; the others answer 401. `revoked` is final. */
const KeyState = z.enum(['accepted', 'revoked', 'disabled', 'expired'])

/** `fresh`: never saved, so only `events` over HTTP. `granted`: the rights last saved, possibly none. `emptied`: all rights were revoked. */
const PermissionState = z.enum(['fresh', 'granted', 'emptied'])

const NamedObject = z.object({ id: Id, name: z.string() })

/**
 * A key as lists show it. `organization` is the one it acts in: the grant's or, while the key is fresh, that of the owner's earliest
 * membership. Null when there is none.
 */
export const ApiKey = z
  .object({
    id: Id,
    name: z.string(),
    kind: z.enum(['key', 'connection']).meta({
      description: 'connection: made by connecting an AI host, named after it; its secret is known to nobody',
    }),
    host_domain: z
      .string()
      .nullable()
      .meta({ description: 'Of a connection: the verified domain of the host, if it has one' }),
    first_characters: z.string().meta({ examples: ['sluice_4fGk2'] }),
    created_at: Instant,
    last_used_at: Instant.nullable(),
    expires_at: Instant.nullable(),
    state: KeyState,
    ask_first: z
      .boolean()
      .meta({ description: 'A destructive tool call needs the confirmation of its own dry run. HTTP calls do not' }),
    permission_state: PermissionState,
    organization: NamedObject.nullable(),
    owner: z.object({ user_id: Id, name: z.string(), email: z.string() }),
    is_yours: z
      .boolean()
      .meta({ description: 'whether you own the key. Only its owner may grant, enable and disable it' }),
  })
  .meta({ id: 'ApiKey' })

export const listKeys = endpoint({
  route: 'GET /api/api-keys',
  access: { session: 'member' },
  summary: 'List your keys, newest first. Owners and admins also see every key that acts in the organization',
  reply: Page(ApiKey),
})

export const KeyDraft = z.object({ name: Name() })

export const createKey = endpoint({
  route: 'POST /api/api-keys',
  access: { session: 'member' },
  history: 'api_key',
  summary: 'Create a key. Its secret is in this answer and never shown again',
  body: KeyDraft,
  reply: ApiKey.extend({ secret: z.string() }),
  status: 201,
})

export const updateKey = endpoint({
  route: 'PATCH /api/api-keys/:id',
  access: { session: 'member' },
  history: 'api_key',
  summary: 'Disable or enable one of your keys, set its expiry, or make its tools ask first',
  body: z.object({
    enabled: z.boolean().optional(),
    expires_at: Instant.nullable().optional(),
    ask_first: z.boolean().optional(),
  }),
  reply: ApiKey,
  refuses: ['object_not_found', 'role_forbidden', 'key_revoked'],
})

export const revokeKey = endpoint({
  route: 'DELETE /api/api-keys/:id',
  access: { session: 'member' },
  history: 'api_key',
  summary: 'Revoke a key at once. This cannot be undone',
  reply: Done,
  refuses: ['object_not_found'],
})

/** A key's rights and the organization they apply in. A fresh key has the organization it acts in and three empty lists. */
export const Grant = z
  .object({
    state: PermissionState,
    organization: NamedObject.nullable(),
    read: z.array(z.string()),
    write: z.array(z.string()),
    delete: z.array(z.string()),
    campaigns: z
      .array(NamedObject.extend({ deleted: z.boolean() }))
      .nullable()
      .meta({ description: 'the campaigns the key is restricted to. Null: every campaign' }),
    saved_at: Instant.nullable(),
  })
  .meta({ id: 'Grant' })

/**
 * The whole grant: saving it removes every right that is not listed. The deed checks the slugs, so that a refusal can name them. An
 * empty `campaigns` list is refused, because a reader could take it for "none" as well as for "all".
 */
export const GrantDraft = z
  .object({
    organization_id: Id,
    read: z.array(z.string()).max(100).default([]),
    write: z.array(z.string()).max(100).default([]),
    delete: z.array(z.string()).max(100).default([]),
    campaigns: z
      .array(Id)
      .min(1, 'omit campaigns to allow every campaign, or list at least one')
      .max(1000)
      .nullable()
      .optional(),
    confirmation: z
      .string()
      .optional()
      .meta({ description: 'The word DELETE. Needed when the save adds a right of the delete tier' }),
  })
  .meta({ id: 'GrantDraft' })

export const readGrant = endpoint({
  route: 'GET /api/api-keys/:id/grant',
  access: { session: 'member' },
  summary: 'Read the permissions of a key',
  reply: Grant,
  refuses: ['object_not_found'],
})

export const saveGrant = endpoint({
  route: 'PUT /api/api-keys/:id/grant',
  access: { session: 'member' },
  history: 'api_key',
  summary: 'Replace all permissions of one of your keys',
  description:
    'You must be an owner or admin of the organization named. Every call with the key later requires the same of you.',
  body: GrantDraft,
  reply: Grant,
  refuses: [
    'object_not_found',
    'role_forbidden',
    'key_revoked',
    'invalid_request',
    'grant_scope_unsupported_resource',
    'grant_organization_forbidden',
    'org_deleted',
    'delete_confirmation_required',
  ],
})

export const revokeGrant = endpoint({
  route: 'DELETE /api/api-keys/:id/grant',
  access: { session: 'member' },
  history: 'api_key',
  summary: 'Revoke all permissions of one of your keys, including events. It keeps its organization',
  reply: Grant,
  refuses: ['object_not_found', 'role_forbidden', 'key_revoked'],
})
