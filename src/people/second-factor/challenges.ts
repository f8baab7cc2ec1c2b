/**
 * The challenges that passkeys sign: random bytes, an expiry, and a MAC over both and the purpose. The MAC makes a challenge valid only for
 * its purpose and person, so nothing need be stored when one is issued.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { MINUTE_MS } from '../../contract/days.ts'
import type { Secrets } from '../../ground/db/secrets.ts'

/** How long a challenge is valid, which is also how long the browser's dialog stays open. */
export const CHALLENGE_MS = 5 * MINUTE_MS

const RANDOM = 16
const TIME = 6

/** `sign-in`, or the id of the person who is adding a passkey. */
type Purpose = string

const macOf = (secrets: Pick<Secrets, 'mac'>, purpose: Purpose, body: Buffer) =>
  secrets.mac('passkey', `${purpose} ${body.toString('base64url')}`)

/** A new challenge, as bytes. */
export function newChallenge(secrets: Pick<Secrets, 'mac'>, purpose: Purpose, now = Date.now()): Buffer {
  const body = Buffer.alloc(RANDOM + TIME)
  randomBytes(RANDOM).copy(body)
  body.writeUIntBE(now + CHALLENGE_MS, RANDOM, TIME)
  return Buffer.concat([body, macOf(secrets, purpose, body)])
}

/** Whether this installation issued the challenge for this purpose, and it has not expired. */
export function isValidChallenge(
  secrets: Pick<Secrets, 'mac'>,
  purpose: Purpose,
  challenge: string,
  now = Date.now(),
): boolean {
  const bytes = Buffer.from(challenge, 'base64url')
  const body = bytes.subarray(0, RANDOM + TIME)
  const mac = macOf(secrets, purpose, body)
  if (bytes.length !== body.length + mac.length || !timingSafeEqual(bytes.subarray(body.length), mac)) return false
  return now <= body.readUIntBE(RANDOM, TIME)
}
