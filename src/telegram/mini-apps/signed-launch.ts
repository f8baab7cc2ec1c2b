/**
 * Reads and verifies a Mini App's initData, which is signed with the bot's token
 * (core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app). Pure: the result depends only on the text, the token and the time.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { DAY_MS, MINUTE_MS } from '../../contract/days.ts'
import { fieldsOf } from '../../contract/json.ts'

const LONGEST_BYTES = 8192
/** An app may be open for a day before it posts; a stolen initData is useless afterwards. */
const OLDEST_MS = DAY_MS
/** Tolerates that Telegram's clock is ahead of ours. */
const AHEAD_MS = MINUTE_MS

/** A launch whose signature is not verified yet: `isSignedBy` does that. */
export type Launch = {
  /** Undefined if Telegram names no person, as in an app that is opened from a keyboard. */
  readonly telegram_user_id: string | undefined
  readonly start_param: string | null
  /** The person lets the bot write to them. */
  readonly may_write: boolean
  readonly language: string | null
  /** ISO 8601. */
  readonly at: string
  readonly isSignedBy: (token: string) => boolean
}

/** Reads initData at `now_ms` (Unix); returns a sentence about the fault if it is not acceptable. */
export function readInitData(body: unknown, now_ms: number): Launch | string {
  const text = body instanceof Uint8Array && body.length <= LONGEST_BYTES ? decode(body) : undefined
  if (text === undefined) return `it must be a text of at most ${LONGEST_BYTES} bytes`
  const fields = [...new URLSearchParams(text)]
  const valueOf = (name: string) => fields.find(([field]) => field === name)?.[1] ?? null
  const [hash, date] = [valueOf('hash') ?? '', valueOf('auth_date') ?? '']
  if (!/^[0-9a-f]{64}$/i.test(hash) || !/^\d{1,15}$/.test(date))
    return 'hash or auth_date is missing: send initData unchanged'
  const age_ms = now_ms - Number(date) * 1000
  if (age_ms > OLDEST_MS) return 'it is older than 24 hours: open the app again'
  if (age_ms < -AHEAD_MS) return 'its time is in the future: a clock is wrong'
  const signed = fields.filter(([name]) => name !== 'hash').map(([name, value]) => `${name}=${value}`)
  return {
    ...personIn(valueOf('user')),
    at: new Date(Number(date) * 1000).toISOString(),
    start_param: valueOf('start_param'),
    isSignedBy: token => timingSafeEqual(signatureOf(signed.sort().join('\n'), token), Buffer.from(hash, 'hex')),
  }
}

function signatureOf(text: string, token: string): Buffer {
  const key = createHmac('sha256', 'WebAppData').update(token).digest()
  return createHmac('sha256', key).update(text).digest()
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** The person in the JSON of the field `user`. */
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
