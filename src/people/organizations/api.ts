/** Organizations (the screen says workspace), their members and invitations. All of it needs a session; no key reaches it. */
import { z } from 'zod'
import { Currency } from '../../contract/currencies.ts'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, Id, Instant, Name, Page } from '../../contract/fields.ts'

export const Role = z.enum(['owner', 'admin', 'member'])

/** One of the caller's organizations. `active` is the one this session acts in; a deleted one can be restored by an owner. */
export const Organization = z
  .object({
    id: Id,
    name: z.string(),
    role: Role,
    active: z.boolean(),
    timezone: z.string().meta({ description: 'By whose clock its days begin in the dashboard, an IANA name' }),
    reporting_currency: z.string().nullable().meta({
      description: 'What the dashboard shows amounts by day in; null: US dollars, which the books are always in',
    }),
    requires_second_factor: z.boolean().meta({
      description: 'Who has no second factor is kept out of its dashboard, 403 second_factor_required',
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
          'By whose clock the dashboard tells times and begins days, for whoever has chosen no other; an IANA name. What keys read stays UTC',
        examples: ['Europe/Kyiv'],
      }),
  })
  .partial()

export const listOrganizations = endpoint({
  route: 'GET /api/organizations',
  access: { session: 'person' },
  summary: 'Your organizations, the oldest membership first; deleted ones are shown to their owners',
  reply: Page(Organization),
})

export const createOrganization = endpoint({
  route: 'POST /api/organizations',
  access: { session: 'person' },
  summary: 'Create an organization, own it and act in it from now on',
  description:
    'A person may have MAX_WORKSPACES_PER_PERSON that they have founded, own and have not deleted (10 where the operator has set no other number).',
  body: OrganizationDraft,
  reply: Organization,
  status: 201,
  refuses: ['organization_limit'],
})

export const updateOrganization = endpoint({
  route: 'PATCH /api/organizations/:id',
  access: { session: 'person' },
  summary: 'Rename an organization you own, or give it a time zone',
  body: OrganizationChanges,
  reply: Organization,
  refuses: ['object_not_found', 'role_forbidden', 'org_deleted', 'second_factor_required', 'tz_unknown'],
})

export const setReportingCurrency = endpoint({
  route: 'PUT /api/reporting-currency',
  access: { session: 'admin' },
  summary: 'Set what the dashboard of the active organization shows amounts by day in',
  description: 'Nothing is converted but what is shown: the books, the API and what is exported are in US dollars.',
  body: z.object({ currency: Currency.nullable().meta({ description: 'null, or USD: US dollars' }) }),
  reply: Organization,
})

export const requireSecondFactor = endpoint({
  route: 'PUT /api/second-factor-requirement',
  access: { session: 'admin' },
  summary: 'Ask everyone in the active organization for a second factor, or cease to; keys are not asked',
  description:
    'Who has none is refused 403 second_factor_required by every route of the organization from their next call on, until they have one.',
  body: z.object({ required: z.boolean() }),
  reply: Organization,
  refuses: ['second_factor_missing'],
})

export const deleteOrganization = endpoint({
  route: 'DELETE /api/organizations/:id',
  access: { session: 'person' },
  summary: 'Delete an organization you own; nothing is lost and it can be restored',
  description: 'Every key surface and the dashboard answer 409 org_deleted until it is restored.',
  reply: Organization,
  refuses: ['object_not_found', 'role_forbidden', 'second_factor_required'],
})

export const restoreOrganization = endpoint({
  route: 'POST /api/organizations/:id/restore',
  access: { session: 'person' },
  summary: 'Restore a deleted organization you own',
  reply: Organization,
  refuses: ['object_not_found', 'role_forbidden', 'second_factor_required', 'organization_limit'],
})

export const activateOrganization = endpoint({
  route: 'POST /api/organizations/:id/activate',
  access: { session: 'person' },
  summary: 'Act in this organization from now on, in this session',
  reply: Organization,
  refuses: ['object_not_found', 'org_deleted'],
})

/** Someone in the active organization. `is_you` marks the caller. */
export const Member = z
  .object({
    id: Id,
    user_id: Id,
    name: z.string(),
    email: z.string(),
    image: z.string().nullable().meta({ description: 'The path of their picture' }),
    role: Role,
    joined_at: Instant,
    has_second_factor: z
      .boolean()
      .nullable()
      .meta({ description: 'Whether a password alone does not let them in; null: owners and admins are told' }),
    is_you: z.boolean(),
  })
  .meta({ id: 'Member' })

export const listMembers = endpoint({
  route: 'GET /api/members',
  access: { session: 'member' },
  summary: 'The members of the active organization, the oldest first',
  reply: Page(Member),
})

export const setMemberRole = endpoint({
  route: 'PATCH /api/members/:id',
  access: { session: 'admin' },
  summary: 'Change a role; only owners make or change owners',
  body: z.object({ role: Role }),
  reply: Member,
  refuses: ['object_not_found', 'role_forbidden', 'last_owner'],
})

export const deleteMember = endpoint({
  route: 'DELETE /api/members/:id',
  access: { session: 'member' },
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
        'false: it was made before links had secrets of their own, and nobody can accept it until it is made anew',
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
  summary: 'The open invitations of the active organization, the newest first',
  reply: Page(Invitation),
})

export const createInvitation = endpoint({
  route: 'POST /api/invitations',
  access: { session: 'admin' },
  summary: 'Invite an e-mail address for 7 days; only owners invite owners',
  description:
    'An earlier open invitation of the same address is withdrawn, and its links stop working. mail tells what became of the message: sent, written to the log (no SMTP_URL), or failed, also after five mails to the address within an hour. The link in the mail is another one, and proves the address.',
  body: InvitationDraft,
  reply: Invitation.extend({
    mail: z.enum(['sent', 'logged', 'failed']),
    link: z.string().meta({
      description: 'Shown this once. Whoever has it can join with the invited address, which it does not prove',
    }),
  }),
  status: 201,
  refuses: ['role_forbidden', 'already_exists', 'rate_limited'],
})

export const withdrawInvitation = endpoint({
  route: 'DELETE /api/invitations/:id',
  access: { session: 'admin' },
  summary: 'Withdraw an invitation; its links stop working at once',
  reply: Done,
  refuses: ['object_not_found', 'role_forbidden'],
})

/** What the page behind a link shows. Whoever has the link sees the address that it is for. */
const InvitationView = z
  .object({
    organization: z.string(),
    email: z.string(),
    role: Role,
    invited_by: z.string(),
    expires_at: Instant,
    has_account: z.boolean().meta({ description: 'whether the address can sign in, or has to sign up first' }),
  })
  .meta({ id: 'InvitationView' })

export const readInvitation = endpoint({
  route: 'GET /api/invitation-links/:secret',
  access: 'anyone',
  summary: 'An invitation, for the page its link opens; secret is the end of the link',
  reply: InvitationView,
  refuses: ['object_not_found', 'invitation_invalid'],
})

export const acceptInvitation = endpoint({
  route: 'POST /api/invitation-links/:secret/accept',
  access: { session: 'person' },
  summary: 'Join the organization, once, with the invited address, and act in it from now on',
  reply: Organization,
  refuses: ['invitation_invalid', 'org_deleted'],
})
