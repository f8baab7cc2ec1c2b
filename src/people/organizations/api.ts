/** Organizations (screens call them workspaces), their members and invitations. All endpoints need a session; API keys are refused. */
import { z } from 'zod'
import { Currency } from '../../contract/currencies.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, Id, Instant, Name, Page } from '../../contract/fields.ts'

export const Role = z.enum(['owner', 'admin', 'member'])

/** One of the caller's organizations. `active` marks the one this session acts in. An owner can restore a deleted one. */
export const Organization = z
  .object({
    id: Id,
    name: z.string(),
    role: Role,
    active: z.boolean(),
    timezone: z.string().meta({ description: 'The time zone of its days in the dashboard, as an IANA name' }),
    reporting_currency: z.string().nullable().meta({
      description:
        'The currency in which the dashboard shows daily amounts. Null: US dollars, the currency of all stored amounts',
    }),
    requires_second_factor: z.boolean().meta({
      description: 'Whether members without a second factor are refused with 403 second_factor_required',
    }),
    created_at: Instant,
    deleted_at: Instant.nullable(),
  })
  .meta({ id: 'Organization' })

export const OrganizationDraft = z.object({ name: Name() })

const OrganizationChanges = z
  .object({
    name: Name(),
    timezone: z
      .string()
      .trim()
      .max(64)
      .meta({
        description:
          'The time zone in which the dashboard shows times and begins days, as an IANA name. Members can choose their own; reads by API key stay in UTC',
        examples: ['Europe/Kyiv'],
      }),
  })
  .partial()

export const listOrganizations = endpoint({
  route: 'GET /api/organizations',
  access: { session: 'person' },
  summary: 'List your organizations, the oldest membership first. Owners also see deleted ones',
  reply: Page(Organization),
})

export const createOrganization = endpoint({
  route: 'POST /api/organizations',
  access: { session: 'person' },
  history: 'organization',
  summary: 'Create an organization, become its owner and switch to it',
  description:
    'A person may create at most MAX_WORKSPACES_PER_PERSON organizations (10 by default). Deleted ones do not count.',
  body: OrganizationDraft,
  reply: Organization,
  status: 201,
  refuses: ['organization_limit'],
})

export const updateOrganization = endpoint({
  route: 'PATCH /api/organizations/:id',
  access: { session: 'person' },
  history: 'organization',
  summary: 'Rename an organization you own, or set its time zone',
  body: OrganizationChanges,
  reply: Organization,
  refuses: ['object_not_found', 'role_forbidden', 'org_deleted', 'second_factor_required', 'tz_unknown'],
})

export const setReportingCurrency = endpoint({
  route: 'PUT /api/reporting-currency',
  access: { session: 'admin' },
  history: 'organization',
  summary: 'Set the currency in which the dashboard shows daily amounts of the active organization',
  description: 'Only the display changes: stored amounts, the API and exports stay in US dollars.',
  body: z.object({ currency: Currency.nullable().meta({ description: 'Null or USD: US dollars' }) }),
  reply: Organization,
})

export const requireSecondFactor = endpoint({
  route: 'PUT /api/second-factor-requirement',
  access: { session: 'admin' },
  history: 'organization',
  summary: 'Set whether the active organization requires a second factor of its members',
  description:
    'A member without one gets 403 second_factor_required from every route of the organization until they set one up. API keys are not affected.',
  body: z.object({ required: z.boolean() }),
  reply: Organization,
  refuses: ['second_factor_missing'],
})

export const deleteOrganization = endpoint({
  route: 'DELETE /api/organizations/:id',
  access: { session: 'person' },
  history: 'organization',
  summary: 'Delete an organization you own. It can be restored with all its rows',
  description: 'Every call by API key and the dashboard answer 409 org_deleted until it is restored.',
  reply: Organization,
  refuses: ['object_not_found', 'role_forbidden', 'second_factor_required'],
})

export const restoreOrganization = endpoint({
  route: 'POST /api/organizations/:id/restore',
  access: { session: 'person' },
  history: 'organization',
  summary: 'Restore a deleted organization you own',
  reply: Organization,
  refuses: ['object_not_found', 'role_forbidden', 'second_factor_required', 'organization_limit'],
})

export const activateOrganization = endpoint({
  route: 'POST /api/organizations/:id/activate',
  access: { session: 'person' },
  history: { none: 'it belongs to a session, not to a workspace' },
  summary: 'Switch this session to an organization',
  reply: Organization,
  refuses: ['object_not_found', 'org_deleted'],
})

/** A member of the active organization. `is_you` marks the caller. */
export const TeamMember = z
  .object({
    id: Id,
    user_id: Id,
    name: z.string(),
    email: z.string(),
    image: z.string().nullable().meta({ description: 'The path of their picture' }),
    role: Role,
    joined_at: Instant,
    has_second_factor: z.boolean().nullable().meta({
      description: 'Whether signing in asks them for a second factor. Null for callers who are not owner or admin',
    }),
    is_you: z.boolean(),
  })
  .meta({ id: 'Member' })

export const listMembers = endpoint({
  route: 'GET /api/members',
  access: { session: 'member' },
  summary: 'List the members of the active organization, the oldest first',
  reply: Page(TeamMember),
})

export const setMemberRole = endpoint({
  route: 'PATCH /api/members/:id',
  access: { session: 'admin' },
  history: 'member',
  summary: "Change a member's role. Only owners may appoint or change owners",
  body: z.object({ role: Role }),
  reply: TeamMember,
  refuses: ['object_not_found', 'role_forbidden', 'last_owner'],
})

export const deleteMember = endpoint({
  route: 'DELETE /api/members/:id',
  access: { session: 'member' },
  history: 'member',
  summary: 'Remove a member (owner or admin), or leave the organization yourself',
  reply: Done,
  refuses: ['object_not_found', 'role_forbidden', 'last_owner'],
})

/** An invitation that is neither used nor withdrawn. */
export const Invitation = z
  .object({
    id: Id,
    email: z.string(),
    role: Role,
    invited_by: z.string(),
    created_at: Instant,
    expires_at: Instant,
    state: z.enum(['pending', 'expired']),
    has_link: z.boolean().meta({
      description:
        'False for an invitation made by an older version without a link of its own. Invite the address again to get one',
    }),
  })
  .meta({ id: 'Invitation' })

export const InvitationDraft = z.object({
  email: z.string().trim().max(254).pipe(z.email()).meta({ format: 'email' }),
  role: Role.default('member'),
})

export const listInvitations = endpoint({
  route: 'GET /api/invitations',
  access: { session: 'admin' },
  summary: 'List the open invitations of the active organization, newest first',
  reply: Page(Invitation),
})

export const createInvitation = endpoint({
  route: 'POST /api/invitations',
  access: { session: 'admin' },
  history: { in: 'invitation' },
  summary: 'Invite an e-mail address for 7 days. Only owners may invite owners',
  description:
    'An earlier open invitation for the same address is withdrawn, and its links stop working. `mail` is `sent`, `logged` (there is no SMTP_URL) or `failed`, which also happens after five mails to the address within an hour. The mailed link differs from `link`: opening it proves the address.',
  body: InvitationDraft,
  reply: Invitation.extend({
    mail: z.enum(['sent', 'logged', 'failed']),
    link: z.string().meta({
      description:
        'Shown only once. Anyone who has it can join with the invited address; it does not prove the address',
    }),
  }),
  status: 201,
  refuses: ['role_forbidden', 'already_exists', 'rate_limited'],
})

export const withdrawInvitation = endpoint({
  route: 'DELETE /api/invitations/:id',
  access: { session: 'admin' },
  history: 'invitation',
  summary: 'Withdraw an invitation. Its links stop working at once',
  reply: Done,
  refuses: ['object_not_found', 'role_forbidden'],
})

/** The invitation as the page behind its link shows it. Anyone with the link sees the invited address. */
const InvitationView = z
  .object({
    organization: z.string(),
    email: z.string(),
    role: Role,
    invited_by: z.string(),
    expires_at: Instant,
    has_account: z.boolean().meta({ description: 'Whether the invited address already has an account' }),
  })
  .meta({ id: 'InvitationView' })

export const readInvitation = endpoint({
  route: 'GET /api/invitation-links/:secret',
  access: 'anyone',
  summary: 'Read an invitation by the secret at the end of its link',
  reply: InvitationView,
  refuses: ['object_not_found', 'invitation_invalid'],
})

export const acceptInvitation = endpoint({
  route: 'POST /api/invitation-links/:secret/accept',
  access: { session: 'person' },
  history: { in: 'member' },
  summary: 'Join the organization with the invited address and switch to it',
  reply: Organization,
  refuses: ['invitation_invalid', 'org_deleted'],
})
