/**
 * What Telegram tells a Mini App of its launch, signed with the bot's token (core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app).
 * Pure: whether it is right depends on the text, the token and the moment alone.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { DAY_MS } from '../../contract/days.ts'
import { fieldsOf } from '../../contract/json.ts'

const LONGEST_BYTES = 8192
/** As long as an app may lie open before it tells; what was overheard is of no use after it. */
const OLDEST_MS = DAY_MS
/** Of Telegram's clock and ours. */
const AHEAD_MS = 60_000

/** A launch as it is told: who has opened the app, and by which parameter. `isSignedBy` says whether it is true. */
export type Launch = {
  /** Undefined where Telegram names no person, as in an app that a keyboard opens. */
  readonly telegram_user_id: string | undefined
  readonly start_param: string | null
  /** The person lets the bot write to them. */
  readonly may_write: boolean
  readonly language: string | null
  /** ISO 8601. */
  readonly at: string
  readonly isSignedBy: (token: string) => boolean
}

/** Reads initData as it was at `now_ms` (Unix), or answers why it cannot be taken, as a sentence. */
export function readInitData(body: unknown, now_ms: number): Launch | string {
  const text = body instanceof Uint8Array && body.length <= LONGEST_BYTES ? decode(body) : undefined
  if (text === undefined) return `it must be a text of at most ${LONGEST_BYTES} bytes`
  const fields = [...new URLSearchParams(text)]
  const valueOf = (name: string) => fields.find(([field]) => field === name)?.[1] ?? null
  const [hash, date] = [valueOf('hash') ?? '', valueOf('auth_date') ?? '']
  if (!/^[0-9a-f]{64}$/i.test(hash) || !/^\d{1,15}$/.test(date))
    return 'it holds no hash and auth_date: send it as it is'
  const age_ms = now_ms - Number(date) * 1000
  if (age_ms > OLDEST_MS) return 'it is older than 24 hours: open the app anew'
  if (age_ms < -AHEAD_MS) return 'it is of the future: a clock is wrong'
  const told = fields.filter(([name]) => name !== 'hash').map(([name, value]) => `${name}=${value}`)
  return {
    ...personIn(valueOf('user')),
    at: new Date(Number(date) * 1000).toISOString(),
    start_param: valueOf('start_param'),
    isSignedBy: token => timingSafeEqual(signatureOf(told.sort().join('\n'), token), Buffer.from(hash, 'hex')),
  }
}

function signatureOf(told: string, token: string): Buffer {
  const key = createHmac('sha256', 'WebAppData').update(token).digest()
  return createHmac('sha256', key).update(told).digest()
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** A person, in the JSON of a field. */
function personIn(user: string | null): Pick<Launch, 'telegram_user_id' | 'may_write' | 'language'> {
  const { id, is_bot, allows_write_to_pm, language_code } = fieldsIn(user)
  const isPerson = typeof id === 'number' && Number.isSafeInteger(id) && id > 0 && is_bot !== true
  return {
    telegram_user_id: isPerson ? String(id) : undefined,
    may_write: allows_write_to_pm === true,
    language: typeof language_code === 'string' && /^[\w-]{1,35}$/.test(language_code) ? language_code : null,
  }
}

function fieldsIn(json: string | null): Readonly<Record<string, unknown>> {
  try {
    return fieldsOf(JSON.parse(json ?? 'null'))
  } catch {
    return {}
  }
}
