/**
 * What a passkey signs: random bytes and a time, with a MAC over both, the purpose and, where somebody is signed in, the person. So asking for
 * one writes nothing, and one that was made for something or somebody else is none.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { MINUTE_MS } from '../../contract/days.ts'
import type { Secrets } from '../../ground/db/secrets.ts'

/** As long as a dialog of the browser stays open. */
export const CHALLENGE_MS = 5 * MINUTE_MS

const RANDOM = 16
const TIME = 6

/** `sign-in`, or the id of the person who adds a passkey. */
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

/** Whether this installation has asked it, for this, and not too long ago. */
export function isOurs(secrets: Pick<Secrets, 'mac'>, purpose: Purpose, challenge: string, now = Date.now()): boolean {
  const bytes = Buffer.from(challenge, 'base64url')
  const body = bytes.subarray(0, RANDOM + TIME)
  const mac = macOf(secrets, purpose, body)
  if (bytes.length !== body.length + mac.length || !timingSafeEqual(bytes.subarray(body.length), mac)) return false
  return now <= body.readUIntBE(RANDOM, TIME)
}
