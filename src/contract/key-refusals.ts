/** Refusals of keys, their grants, and connections of AI hosts. Part of the catalogue. */
export const KEY_REFUSALS = {
  key_revoked: {
    status: 409,
    error: 'this key is revoked',
    code: 'key_revoked',
    hint: 'Revoking is final. Create a new key.',
  },
  grant_scope_unsupported_resource: {
    status: 400,
    error: 'this right cannot be restricted to campaigns',
    code: 'grant_scope_unsupported_resource',
  },
  delete_confirmation_required: {
    status: 400,
    error: 'confirmation required',
    code: 'delete_confirmation_required',
    hint: 'Type DELETE to add a right of the delete tier.',
  },
  confirmation_needed: {
    status: 409,
    error: 'this key asks first: the call needs a confirmation',
    code: 'confirmation_needed',
    hint: 'Repeat the call with dry_run true, show the user what it tells, and call again with the same arguments and the confirmation in its answer.',
  },
  connection_client_unknown: {
    status: 400,
    error: 'this AI host is not known',
    code: 'connection_client_unknown',
    hint: 'Its registration was forgotten, or its document cannot be read. Remove Sluice in the host and connect it again.',
  },
  connection_redirect_unknown: {
    status: 400,
    error: 'the host did not register the address to which you would be sent',
    code: 'connection_redirect_unknown',
    hint: 'Somebody may have changed the link. Begin again in the host itself.',
  },
  connection_request_invalid: {
    status: 400,
    error: 'the request of the host is invalid',
    code: 'connection_request_invalid',
    hint: 'Begin again in the host. If this happens again, the host does not support OAuth 2.1 with PKCE.',
  },
  grant_organization_forbidden: {
    status: 403,
    error: 'not a member of this organization',
    hint: 'Choose an organization you are a member of.',
  },
} as const
