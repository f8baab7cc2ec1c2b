/** Every refusal: status, text, and code if the interface gives one. `uncodedOnEvents`: reads send the code, `POST /api/events` does not. */

import { CONVERSION_REFUSALS } from './conversion-refusals.ts'
import { HISTORY_REFUSALS } from './history-refusals.ts'
import { KEY_REFUSALS } from './key-refusals.ts'
import { PAGE_REFUSALS } from './page-refusals.ts'
import { READING_REFUSALS } from './reading-refusals.ts'
import { RULE_REFUSALS } from './rule-refusals.ts'
import { SPEND_REFUSALS } from './spend-refusals.ts'
import { TELEGRAM_REFUSALS } from './telegram-refusals.ts'

type Entry = { status: number; error: string; code?: string; hint?: string; uncodedOnEvents?: true }

const entries = {
  // Of HTTP itself.
  payload_too_large: { status: 413, error: 'payload too large', hint: 'Send at most 1 MiB.' },
  invalid_json: { status: 400, error: 'invalid JSON body', hint: 'Send one JSON object.' },
  invalid_request: { status: 400, error: 'invalid request' },
  unsupported_encoding: { status: 415, error: 'unsupported content encoding', hint: 'Send the body uncompressed.' },
  route_not_found: { status: 404, error: 'not found', hint: 'Compare method and path with /api/docs.' },
  internal_error: {
    status: 500,
    error: 'internal error',
    code: 'internal_error',
    hint: 'The fault is not in your request. Try again.',
  },
  misdirected_request: {
    status: 421,
    error: 'the dashboard is not served under this host name',
    code: 'misdirected_request',
    hint: 'Open it at the address in BASE_URL. A proxy in front must forward the original Host, or add its host name to ALSO_HOSTS.',
  },
  method_not_allowed: {
    status: 405,
    error: 'method not allowed',
    code: 'method_not_allowed',
    hint: 'This route answers GET only.',
  },

  // Of the installation.
  backup_running: {
    status: 409,
    error: 'another backup is running',
    code: 'backup_running',
    hint: 'Wait until it has ended.',
  },

  // Identity.
  api_key_required: {
    status: 401,
    error: 'API key required',
    code: 'api_key_required',
    hint: 'Send your key in the x-api-key header. Dashboard cookies are not accepted here.',
  },
  key_not_accepted: {
    status: 401,
    error: 'unauthorized',
    code: 'unauthorized',
    hint: 'The key is unknown, revoked, disabled or expired. Create a new key in Settings, API keys.',
    uncodedOnEvents: true,
  },
  sign_in_required: {
    status: 401,
    error: 'sign in required',
    code: 'sign_in_required',
    hint: 'Sign in to the dashboard.',
  },
  origin_required: {
    status: 403,
    error: 'Origin header required: a request without x-api-key is a cookie request and must come from the dashboard',
    hint: 'Servers send their key in the x-api-key header.',
  },
  origin_mismatch: {
    status: 403,
    error: 'Origin header required: the Origin of this request is not the address of the dashboard',
    hint: 'Open the dashboard at its own address, or set BASE_URL to the address it is reached by.',
  },
  auth_route_closed: { status: 403, error: 'sign-in routes take no API key', hint: 'Use a dashboard session.' },
  sign_up_closed: {
    status: 403,
    error: 'sign-up is by invitation',
    code: 'sign_up_closed',
    hint: 'Ask an owner or admin of the organization for an invitation to this e-mail address.',
  },
  setup_code_wrong: {
    status: 403,
    error: 'the setup code is missing or wrong',
    code: 'setup_code_wrong',
    hint: 'Sluice shows it where it was started, in the line "Sluice has no owner yet". Restart Sluice to see it again.',
  },
  setup_done: {
    status: 409,
    error: 'this installation has its owner',
    code: 'setup_done',
    hint: 'Sign in, or ask an owner or admin for an invitation.',
  },

  // Rights and roles.
  api_key_resource_forbidden: {
    status: 403,
    error: 'no API key can do this',
    code: 'api_key_resource_forbidden',
    hint: 'No right covers this route. A dashboard session is required.',
  },
  api_key_read_not_granted: { status: 403, error: 'right not granted', code: 'api_key_read_not_granted' },
  api_key_write_not_granted: { status: 403, error: 'right not granted', code: 'api_key_write_not_granted' },
  api_key_delete_not_granted: { status: 403, error: 'right not granted', code: 'api_key_delete_not_granted' },
  api_key_scope_unverifiable: {
    status: 403,
    error: 'the rights of this key could not be read',
    code: 'api_key_scope_unverifiable',
    hint: 'This is temporary: try again. If it stays, save the rights of the key again.',
  },
  api_key_grant_unverifiable: {
    status: 403,
    error: 'the rights of this key cannot be verified',
    code: 'api_key_grant_unverifiable',
    hint: 'The grant is unreadable or names no organization. Save the rights of the key again in Settings, API keys.',
  },
  api_key_org_not_member: {
    status: 403,
    error: 'the owner of this key is not a member of its organization',
    code: 'api_key_org_not_member',
    hint: 'Invite the owner of the key again, or create a key with a member of the organization.',
  },
  role_forbidden: {
    status: 403,
    error: 'the role does not allow this',
    code: 'role_forbidden',
    hint: 'The owner of a key, or the person signed in, must be owner or admin of the organization.',
  },
  campaign_scope_forbidden: {
    status: 403,
    error: 'outside the campaigns of this key',
    code: 'campaign_scope_forbidden',
  },
  second_factor_required: {
    status: 403,
    error: 'this organization requires a second factor',
    code: 'second_factor_required',
    hint: 'Set up an app or a passkey in Settings, Profile.',
  },
  second_factor_missing: {
    status: 409,
    error: 'you have no second factor yourself',
    code: 'second_factor_missing',
    hint: 'Set up an app or a passkey in Settings, Profile, first.',
  },
  org_deleted: {
    status: 409,
    error: 'the organization is deleted',
    code: 'org_deleted',
    hint: 'Nothing is accepted until an owner restores the organization.',
  },
  no_organization: {
    status: 409,
    error: 'no organization is active',
    code: 'no_organization',
    hint: 'Create an organization, or accept an invitation to one.',
  },

  // Quotas and retries.
  rate_limited: {
    status: 429,
    error: 'rate limit exceeded',
    code: 'rate_limited',
    hint: 'Wait for the seconds in Retry-After, then send the same request again.',
    uncodedOnEvents: true,
  },
  service_unavailable: {
    status: 503,
    error: 'service unavailable',
    hint: 'It was not acknowledged. Retry after the delay, with the same nonce: nothing happens twice.',
  },
  in_flight: {
    status: 409,
    error: 'a request with this Idempotency-Key is still in flight',
    hint: 'Wait for its answer, or retry shortly with the same key.',
  },
  timed_out: {
    status: 504,
    error: 'the request took over 55 seconds and was not recorded',
    hint: 'Retry with the same Idempotency-Key.',
  },

  // Conversions and their revisions.
  ...PAGE_REFUSALS,
  ...CONVERSION_REFUSALS,

  ...READING_REFUSALS,

  ...KEY_REFUSALS,

  // Objects.
  object_not_found: {
    status: 404,
    error: 'not found',
    code: 'not_found',
    hint: 'No object that you can reach has this id, or it was deleted.',
  },
  already_exists: { status: 409, error: 'already exists', code: 'already_exists' },
  left_out_limit: {
    status: 409,
    error: 'the campaign has 10,000 left-out values',
    code: 'left_out_limit',
    hint: 'Let values in again that no longer bring visitors.',
  },
  domain_limit: {
    status: 409,
    error: 'the organization has 200 domains',
    code: 'domain_limit',
    hint: 'Delete one that is no longer used.',
  },
  organization_limit: {
    status: 409,
    error: 'you have the most workspaces that one person may have here',
    code: 'organization_limit',
    hint: 'Delete one that is no longer used, or ask the person who runs Sluice to raise MAX_WORKSPACES_PER_PERSON.',
  },
  idempotency_key_used: {
    status: 409,
    error: 'this Idempotency-Key was used for another request',
    code: 'idempotency_key_used',
    hint: 'Nothing was created. Send another Idempotency-Key.',
  },
  in_use: { status: 409, error: 'still in use', code: 'in_use' },
  ...TELEGRAM_REFUSALS,
  placeholder_left: {
    status: 400,
    error: 'the address still holds a placeholder',
    code: 'placeholder_left',
    hint: 'Replace each part that begins with YOUR_ by the value from your account at the traffic source.',
  },
  traffic_source_in_use: {
    status: 409,
    error: 'campaigns use this traffic source',
    code: 'traffic_source_in_use',
    hint: 'First give those campaigns another source, or none.',
  },
  campaign_not_archived: {
    status: 409,
    error: 'the campaign is not archived',
    code: 'campaign_not_archived',
    hint: 'Archive it first: that sends its visitors to the fallback and can be undone.',
  },
  cap_cycle: { status: 400, error: 'then_offer_id: the offers would form a cycle', code: 'cap_cycle' },
  delivery_under_way: { status: 409, error: 'the delivery is being sent, or is on hold', code: 'delivery_under_way' },
  run_under_way: { status: 409, error: 'another run is in progress: wait for it, or stop it', code: 'run_under_way' },
  no_click_yet: { status: 409, error: 'no click to take values from: open a tracking link once', code: 'no_click_yet' },
  postback_method_forbidden: {
    status: 403,
    error: 'a key creates GET rules only',
    code: 'postback_method_forbidden',
    hint: 'Leave the method out, or create the rule in the dashboard.',
  },
  cannot_run_again: {
    status: 409,
    error: 'this request cannot be run again',
    code: 'cannot_run_again',
    hint: 'It is not valid JSON, or it was too large to store in full. Have the sender send it again.',
  },
  ...RULE_REFUSALS,
  ...SPEND_REFUSALS,
  ...HISTORY_REFUSALS,
  click_flow_incomplete: { status: 422, error: 'the click flow cannot be published', code: 'click_flow_incomplete' },
  draft_changed: {
    status: 409,
    error: 'someone has changed the draft since it was read',
    code: 'draft_changed',
    hint: 'Read it again and repeat the change, or leave draft_tag out to overwrite it.',
  },
  click_flow_not_published: {
    status: 409,
    error: 'the click flow has no published version',
    code: 'click_flow_not_published',
    hint: 'Publish it: that makes it active.',
  },
  click_flow_active_forbidden: {
    status: 403,
    error: 'a key cannot set a click flow active',
    code: 'click_flow_active_forbidden',
    hint: 'Publish it (right click-flows:publish), or set it active in the dashboard.',
  },
  hook_secret_wrong: { status: 401, error: 'unauthorized' },
  init_data_wrong: {
    status: 401,
    error: 'init data refused: it is not signed for this bot',
    code: 'init_data_wrong',
    hint: 'Send Telegram.WebApp.initData unchanged, from an app of the bot in the address.',
  },
  last_owner: {
    status: 409,
    error: 'an organization keeps at least one owner',
    code: 'last_owner',
    hint: 'Make someone else an owner first.',
  },
  mail_needed: {
    status: 409,
    error: 'no mail server is set up, so a new address cannot be confirmed',
    code: 'mail_needed',
    hint: 'Ask the person who runs Sluice to set SMTP_URL.',
  },
  mail_failed: {
    status: 503,
    error: 'the mail could not be sent',
    code: 'mail_failed',
    hint: 'Check the address and try again. If it fails again, ask the person who runs Sluice: the log says why.',
  },
  invitation_invalid: {
    status: 409,
    error: 'this invitation cannot be used',
    code: 'invitation_invalid',
    hint: 'It was used, withdrawn, has expired, or is for another e-mail address. Ask the person who invited you for a new link.',
  },
} as const satisfies Record<string, Entry>

export type RefusalName = keyof typeof entries
export const REFUSALS: Record<RefusalName, Entry> = entries
