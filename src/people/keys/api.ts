/** API keys and their grants. A dashboard session only: no key reads or changes keys. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, Id, Instant, Name, Page } from '../../contract/fields.ts'

/** What becomes of a call with the key: only `accepted` gets in, the others answer 401. `revoked` is final. */
const KeyState = z.enum(['accepted', 'revoked', 'disabled', 'expired'])

/** `fresh`: never saved, so `events` over HTTP alone; `granted`: holds what was saved last, be it nothing; `emptied`: all was revoked. */
const PermissionState = z.enum(['fresh', 'granted', 'emptied'])

const Place = z.object({ id: Id, name: z.string() })

/**
 * A key as lists show it. `organization` is the one it acts in: the grant's, or while the key is fresh the owner's earliest
 * membership; null when there is none.
 */
export const ApiKey = z
  .object({
    id: Id,
    name: z.string(),
    first_characters: z.string().meta({ examples: ['sluice_4fGk2'] }),
    created_at: Instant,
    last_used_at: Instant.nullable(),
    expires_at: Instant.nullable(),
    state: KeyState,
    permission_state: PermissionState,
    organization: Place.nullable(),
    owner: z.object({ user_id: Id, name: z.string(), email: z.string() }),
    is_yours: z.boolean().meta({ description: 'only the owner of a key grants, enables and disables it' }),
  })
  .meta({ id: 'ApiKey' })

export const listKeys = endpoint({
  route: 'GET /api/api-keys',
  access: { session: 'member' },
  summary: 'Your keys; for owners and admins also every key that acts in the organization. The newest first',
  reply: Page(ApiKey),
})

export const KeyDraft = z.object({ name: Name() })

export const createKey = endpoint({
  route: 'POST /api/api-keys',
  access: { session: 'member' },
  summary: 'Create a key; its secret is in this answer and never shown again',
  body: KeyDraft,
  reply: ApiKey.extend({ secret: z.string() }),
  status: 201,
})

export const updateKey = endpoint({
  route: 'PATCH /api/api-keys/:id',
  access: { session: 'member' },
  summary: 'Disable or enable a key of yours, or let it expire',
  body: z.object({ enabled: z.boolean().optional(), expires_at: Instant.nullable().optional() }),
  reply: ApiKey,
  refuses: ['object_not_found', 'role_forbidden', 'key_revoked'],
})

export const revokeKey = endpoint({
  route: 'DELETE /api/api-keys/:id',
  access: { session: 'member' },
  summary: 'Revoke a key: at once, without grace, for ever',
  reply: Done,
  refuses: ['object_not_found'],
})

/** What a key may do, and where. A fresh key shows the organization it resolves to and three empty lists. */
export const Grant = z
  .object({
    state: PermissionState,
    organization: Place.nullable(),
    read: z.array(z.string()),
    write: z.array(z.string()),
    delete: z.array(z.string()),
    campaigns: z
      .array(Place.extend({ deleted: z.boolean() }))
      .nullable()
      .meta({ description: 'the campaigns the key is restricted to, or null for all of them' }),
    saved_at: Instant.nullable(),
  })
  .meta({ id: 'Grant' })

/**
 * The whole grant: what is not listed is not held afterwards. Slugs are checked in the deed, so that a refusal can name them. An
 * empty `campaigns` list is refused, because it reads as "none" and would be stored as "all".
 */
export const GrantDraft = z
  .object({
    organization_id: Id,
    read: z.array(z.string()).max(100).default([]),
    write: z.array(z.string()).max(100).default([]),
    delete: z.array(z.string()).max(100).default([]),
    campaigns: z
      .array(Id)
      .min(1, 'leave campaigns out for every campaign, or list at least one')
      .max(1000)
      .nullable()
      .optional(),
    confirmation: z.string().optional().meta({ description: 'DELETE, when a right of the delete tier is added' }),
  })
  .meta({ id: 'GrantDraft' })

export const readGrant = endpoint({
  route: 'GET /api/api-keys/:id/grant',
  access: { session: 'member' },
  summary: 'What a key may do',
  reply: Grant,
  refuses: ['object_not_found'],
})

export const saveGrant = endpoint({
  route: 'PUT /api/api-keys/:id/grant',
  access: { session: 'member' },
  summary: 'Replace everything a key of yours may do',
  description: 'You must be owner or admin of the organization named, as the key will need you to be at every call.',
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
  summary: 'Revoke all permissions of a key of yours; it keeps its organization and holds nothing, events included',
  reply: Grant,
  refuses: ['object_not_found', 'role_forbidden', 'key_revoked'],
})
