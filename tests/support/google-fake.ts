// A fake of Google on loopback: the token endpoint, which verifies signatures, and the Data Manager API.
import { createPublicKey, generateKeyPairSync, randomUUID, verify } from 'node:crypto'
import { DAY_S, type Fake, jsonBody, type Reply, SHA256, startFake, strangers, textOf } from './platform-fake.ts'
import type { Arrival } from './receiver.ts'

type GoogleEvent = Record<string, unknown> & {
  transactionId: string
  eventTimestamp: string
  adIdentifiers?: Record<string, string>
}
type GoogleTaken = {
  event: GoogleEvent
  destination: Record<string, unknown>
  consent: unknown
  validateOnly: boolean
}
type Destination = { operatingAccount?: { accountId?: unknown }; productDestinationId?: unknown }

export type GoogleFake = Fake<GoogleTaken> & {
  readonly tokenUrl: string
  /** The JSON key of its service account, in Google's format. */
  readonly key: string
  /** The valid access tokens it has issued. */
  readonly tokens: Set<string>
  /** Its result for accepted requests: a status, and the reasons of errors. */
  readonly outcome: { status: string; reasons: string[] }
  /** The number of tokens issued. */
  readonly given: { count: number }
}

type Reason = { reason?: string; fieldViolations?: { field: string; description: string; reason?: string }[] }

/** A refusal in the format of google.rpc.Status. */
export const googleStatus = (
  code: number,
  status: string,
  message: string,
  { reason, fieldViolations }: Reason = {},
): Reply => ({
  status: code,
  body: {
    error: {
      code,
      status,
      message,
      details: [
        ...(reason === undefined
          ? []
          : [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'datamanager.googleapis.com' }]),
        ...(fieldViolations === undefined
          ? []
          : [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations }]),
        { '@type': 'type.googleapis.com/google.rpc.RequestInfo', requestId: randomUUID() },
      ],
    },
  },
})

/** Starts the fake. `accounts` are the customer ids its service account may write to, each with its conversion actions. */
export async function startGoogle(accounts: Record<string, string[]>): Promise<GoogleFake> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const client_email = 'sluice@example-project.iam.gserviceaccount.com'
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const tokens = new Set<string>()
  const given = { count: 0 }
  const at = { origin: '' }
  const outcome = { status: 'PROCESSING', reasons: [] as string[] }
  const requests = new Set<string>()
  const fake = await startFake<GoogleTaken>((call, taken) => {
    const path = call.url.split('?')[0]
    if (path === '/token') return giveToken(call, { pem, client_email, aud: `${at.origin}/token`, tokens, given })
    if (path === '/v1/events:ingest' && call.method === 'POST') return ingest(call, taken, tokens, accounts, requests)
    if (path === '/v1/requestStatus:retrieve' && call.method === 'GET') return retrieve(call, tokens, requests, outcome)
    return { status: 404, body: '<!DOCTYPE html><title>Error 404 (Not Found)!!1</title>' }
  })
  at.origin = fake.origin
  const key = JSON.stringify({
    type: 'service_account',
    project_id: 'example-project',
    private_key_id: 'c0ffee0123456789',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    client_email,
    token_uri: 'https://oauth2.googleapis.com/token',
  })
  return Object.assign(fake, { tokenUrl: `${fake.origin}/token`, key, tokens, given, outcome })
}

type Issuer = { pem: string; client_email: string; aud: string; tokens: Set<string>; given: { count: number } }

const oauth = (error: string, error_description: string): Reply => ({ status: 400, body: { error, error_description } })

function giveToken(call: Arrival, { pem, client_email, aud, tokens, given }: Issuer): Reply {
  if (call.method !== 'POST' || call.headers['content-type'] !== 'application/x-www-form-urlencoded')
    return oauth('invalid_request', 'Bad Request')
  const form = new URLSearchParams(call.body)
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer')
    return oauth('unsupported_grant_type', 'Invalid grant_type')
  const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
  const isSigned = verify(
    'RSA-SHA256',
    Buffer.from(`${head}.${claims}`),
    createPublicKey(pem),
    Buffer.from(signature, 'base64url'),
  )
  if (!isSigned) return oauth('invalid_grant', 'Invalid JWT Signature.')
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  const { alg, typ, kid } = read(head)
  const { iss, scope, aud: meant, iat, exp } = read(claims)
  const now = Date.now() / 1000
  if (alg !== 'RS256' || typ !== 'JWT' || kid !== 'c0ffee0123456789')
    return oauth('invalid_grant', 'Invalid JWT header.')
  if (iss !== client_email || meant !== aud) return oauth('invalid_grant', 'Invalid JWT: issuer or audience.')
  if (scope !== 'https://www.googleapis.com/auth/datamanager') return oauth('invalid_scope', 'Invalid OAuth scope.')
  const lives = Number(exp) - Number(iat)
  if (!(lives > 0 && lives <= 3600) || Number(iat) > now + 60 || Number(exp) < now)
    return oauth('invalid_grant', 'Invalid JWT: Token must be a short-lived token (60 minutes)')
  const access_token = `ya29.${randomUUID()}`
  tokens.add(access_token)
  given.count += 1
  return { status: 200, body: { access_token, expires_in: 3599, token_type: 'Bearer' } }
}

function ingest(
  call: Arrival,
  taken: GoogleTaken[],
  tokens: Set<string>,
  accounts: Record<string, string[]>,
  requests: Set<string>,
): Reply {
  const token = /^Bearer (\S+)$/.exec(call.headers['authorization'] ?? '')?.[1]
  if (token === undefined || !tokens.has(token))
    return googleStatus(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.')
  const body = jsonBody(call)
  if (body === undefined) return googleStatus(400, 'INVALID_ARGUMENT', 'Invalid JSON payload received.')
  const fault = faultOf(body)
  if (fault !== undefined) return invalid(...fault)
  for (const [index, { operatingAccount, productDestinationId }] of (body['destinations'] as Destination[]).entries()) {
    const actions = accounts[textOf(operatingAccount?.accountId)]
    if (actions === undefined)
      return googleStatus(403, 'PERMISSION_DENIED', 'The caller does not have permission', {
        reason: 'PERMISSION_DENIED',
      })
    if (!actions.includes(textOf(productDestinationId)))
      return invalid(`destinations.destinations[${index}].product_destination_id`, 'INVALID_CONVERSION_ACTION_ID')
  }
  const [destination = {}] = body['destinations'] as Record<string, unknown>[]
  const { consent, validateOnly } = body
  for (const event of body['events'] as GoogleEvent[])
    taken.push({ event, destination, consent, validateOnly: validateOnly === true })
  const requestId = randomUUID()
  // A request that was only validated has no result.
  if (body['validateOnly'] !== true) requests.add(requestId)
  return { status: 200, body: { requestId } }
}

type Outcome = { status: string; reasons: string[] }

function retrieve(call: Arrival, tokens: Set<string>, requests: Set<string>, { status, reasons }: Outcome): Reply {
  const token = /^Bearer (\S+)$/.exec(call.headers['authorization'] ?? '')?.[1]
  if (token === undefined || !tokens.has(token))
    return googleStatus(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.')
  if (!requests.has(new URL(call.url, 'http://fake').searchParams.get('requestId') ?? ''))
    return googleStatus(400, 'INVALID_ARGUMENT', 'Invalid request id.')
  const errorCounts = reasons.map(reason => ({ reason: `PROCESSING_ERROR_REASON_${reason}`, recordCount: '1' }))
  const errorInfo = errorCounts.length === 0 ? {} : { errorInfo: { errorCounts } }
  return { status: 200, body: { requestStatusPerDestination: [{ requestStatus: status, ...errorInfo }] } }
}

const invalid = (field: string, reason: string): Reply =>
  googleStatus(400, 'INVALID_ARGUMENT', 'There was a problem with the request.', {
    reason: 'INVALID_ARGUMENT',
    fieldViolations: [{ field, description: reason.toLowerCase().replaceAll('_', ' '), reason }],
  })

type Fault = [field: string, reason: string]

const BODY = ['destinations', 'consent', 'events', 'encoding', 'validateOnly']
const EVENT = [
  'transactionId',
  'eventTimestamp',
  'eventSource',
  'adIdentifiers',
  'userData',
  'currency',
  'conversionValue',
]

function faultOf(body: Record<string, unknown>): Fault | undefined {
  const { destinations, events, encoding } = body
  const odd = strangers(body, BODY)
  if (odd.length > 0) return [String(odd[0]), 'UNKNOWN_FIELD']
  if (!Array.isArray(destinations) || destinations.length === 0 || destinations.length > 10)
    return ['destinations', 'REQUIRED']
  for (const [index, one] of (destinations as Record<string, Record<string, unknown>>[]).entries()) {
    const field = `destinations.destinations[${index}]`
    const { operatingAccount, loginAccount, productDestinationId } = one
    for (const account of [operatingAccount, loginAccount ?? operatingAccount])
      if (account?.['accountType'] !== 'GOOGLE_ADS' || !/^\d{10}$/.test(textOf(account['accountId'])))
        return [`${field}.operating_account`, 'INVALID_ACCOUNT']
    if (!/^\d+$/.test(textOf(productDestinationId)))
      return [`${field}.product_destination_id`, 'INVALID_CONVERSION_ACTION_ID']
  }
  for (const value of Object.values((body['consent'] ?? {}) as object))
    if (!['CONSENT_GRANTED', 'CONSENT_DENIED'].includes(textOf(value))) return ['consent', 'INVALID_CONSENT']
  if (!Array.isArray(events) || events.length === 0) return ['events', 'REQUIRED']
  if (events.length > 2000) return ['events', 'TOO_MANY_EVENTS']
  return (events as GoogleEvent[])
    .map((event, index) => faultOfEvent(event, `events.events[${index}]`, encoding))
    .find(Boolean)
}

function faultOfEvent(event: GoogleEvent, field: string, encoding: unknown): Fault | undefined {
  const { transactionId, eventTimestamp, eventSource, adIdentifiers, userData, currency, conversionValue } = event
  const odd = strangers(event, EVENT)
  if (odd.length > 0) return [`${field}.${odd[0]}`, 'UNKNOWN_FIELD']
  if (typeof transactionId !== 'string' || transactionId === '' || transactionId.length > 512)
    return [`${field}.transaction_id`, 'INVALID']
  const at = Date.parse(eventTimestamp) / 1000
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(eventTimestamp)
  if (!isTime || at > Date.now() / 1000 + 60 || at < Date.now() / 1000 - 90 * DAY_S)
    return [`${field}.event_timestamp`, 'EVENT_TIME_INVALID']
  if (!['WEB', 'APP', 'IN_STORE', 'PHONE', 'MESSAGE', 'OTHER'].includes(textOf(eventSource)))
    return [`${field}.event_source`, 'INVALID']
  const ids = Object.entries(adIdentifiers ?? {})
  if (ids.some(([name, id]) => !['gclid', 'gbraid', 'wbraid'].includes(name) || id === ''))
    return [`${field}.ad_identifiers`, 'INVALID']
  if (ids.length > 1) return [`${field}.ad_identifiers`, 'GBRAID_WBRAID_BOTH_SET']
  if (ids.length === 0 && userData === undefined) return [field, 'NO_IDENTIFIERS_PROVIDED']
  if (userData !== undefined) {
    if (encoding !== 'HEX') return ['encoding', 'REQUIRED']
    const list = (userData as { userIdentifiers?: Record<string, string>[] }).userIdentifiers ?? []
    const isHashed = list.every(one => Object.values(one).every(value => SHA256.test(value)))
    if (list.length === 0 || list.length > 10 || !isHashed) return [`${field}.user_data`, 'INVALID']
  }
  if (conversionValue !== undefined && typeof conversionValue !== 'number')
    return [`${field}.conversion_value`, 'INVALID']
  if (conversionValue !== undefined && !/^[A-Z]{3}$/.test(textOf(currency)))
    return [`${field}.currency`, 'INVALID_CURRENCY_CODE']
  return undefined
}
