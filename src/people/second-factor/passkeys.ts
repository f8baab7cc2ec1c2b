/**
 * Passkeys: what browsers are asked to make and to sign, and what they answer. A passkey counts as both factors, so the person must have shown
 * themself to it (by finger, face or PIN), and it lets in without a password. A challenge is answered once.
 */
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { newId, toUuid } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { isTaken } from '../../ground/db/faults.ts'
import type { Ground, Person } from '../../ground/room.ts'
import { CHALLENGE_MS, isOurs, newChallenge } from './challenges.ts'
import { newRecoveryCodes, sealingOf } from './recovery-codes.ts'
import { holdPerson, NO_SECRET, settle } from './second-factor.ts'
import { spend } from './spent-codes.ts'

/** Where the browser is: passkeys are bound to the name of the host, and sign the whole origin. */
export type Place = { origin: string; host: string }

/** EdDSA, ES256 and RS256, by their numbers in COSE: one of them is known to everything that makes passkeys. */
const ALGORITHMS = [-8, -7, -257]

/** 1023 bytes in base64url: longer ids the standard refuses. */
const ID_LENGTH = 1364
/** How a browser reaches what holds a passkey. It is told again which way to look; what is none of these says nothing. */
const TRANSPORTS = ['usb', 'nfc', 'ble', 'smart-card', 'hybrid', 'internal']

/** Loaded when somebody has use for it: half as large as all the rest of signing in. */
const webauthn = () => import('@simplewebauthn/server')

/** What `navigator.credentials.create` is given. A passkey the person has here already is not made again. */
export async function askForPasskey(
  { db, secrets }: Ground,
  { host }: Place,
  { user_id, email, name }: Person,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const known = await db
    .selectFrom('passkeys')
    .select(['credential_id as id', 'transports'])
    .where('user_id', '=', user_id)
    .execute()
  const { generateRegistrationOptions } = await webauthn()
  return generateRegistrationOptions({
    rpName: 'Sluice',
    rpID: host,
    userID: new Uint8Array(Buffer.from(user_id.replaceAll('-', ''), 'hex')),
    userName: email,
    userDisplayName: name,
    challenge: new Uint8Array(newChallenge(secrets, user_id)),
    timeout: CHALLENGE_MS,
    attestationType: 'none',
    excludeCredentials: known,
    supportedAlgorithmIDs: ALGORITHMS,
    // Found by the browser without a name, and only after its person has shown themself: that is what makes it enough.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
}

/**
 * Takes in the passkey that was made. Answers its id, and the recovery codes where it is the first second factor of the person. Undefined
 * where the answer is not to our question, or says what is not so; refuses `already_exists`.
 */
export async function addPasskey(
  { db, secrets }: Ground,
  { origin, host }: Place,
  { user_id }: Person,
  { name, response }: { name: string; response: RegistrationResponseJSON },
): Promise<{ id: string; recovery_codes: string[] | null } | undefined> {
  const { verifyRegistrationResponse } = await webauthn()
  const asked = challengeOf(response.response.clientDataJSON)
  const checked = await verifyRegistrationResponse({
    response,
    expectedChallenge: challenge => isOurs(secrets, user_id, challenge),
    expectedOrigin: origin,
    expectedRPID: host,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => undefined)
  if (!checked?.verified || asked === undefined || !(await spend(db, user_id, asked))) return undefined
  const { credential, credentialBackedUp } = checked.registrationInfo
  if (credential.id.length > ID_LENGTH) return undefined
  const id = newId()
  const codes = newRecoveryCodes()
  const backup_codes = await sealingOf(secrets).encrypt(JSON.stringify(codes))
  try {
    return await db.transaction().execute(async trx => {
      await holdPerson(trx, user_id)
      await trx
        .insertInto('passkeys')
        .values({
          id,
          user_id,
          name,
          credential_id: credential.id,
          public_key: Buffer.from(credential.publicKey),
          counter: String(credential.counter),
          transports: TRANSPORTS.filter(one => credential.transports?.includes(one)),
          is_synced: credentialBackedUp,
          created_at: new Date().toISOString(),
        })
        .execute()
      const held = await trx
        .selectFrom('users')
        .select('two_factor_enabled')
        .where('id', '=', user_id)
        .executeTakeFirstOrThrow()
      if (held.two_factor_enabled) return { id, recovery_codes: null }
      // An app that was begun and never confirmed may have left a row; its codes were shown to nobody who kept them.
      const row = { secret: NO_SECRET, backup_codes, verified: false }
      await trx
        .insertInto('two_factors')
        .values({ id: newId(), user_id, ...row })
        .onConflict(on => on.column('user_id').doUpdateSet(row))
        .execute()
      await settle(trx, user_id)
      return { id, recovery_codes: codes }
    })
  } catch (error) {
    if (!isTaken(error)) throw error
    refuse('already_exists', { error: 'this passkey is known here' })
  }
}

/** What `navigator.credentials.get` is given: any passkey of this host will do, and says itself whose it is. */
export async function askForSignature(
  { secrets }: Pick<Ground, 'secrets'>,
  { host }: Place,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await webauthn()
  return generateAuthenticationOptions({
    rpID: host,
    challenge: new Uint8Array(newChallenge(secrets, 'sign-in')),
    timeout: CHALLENGE_MS,
    userVerification: 'required',
  })
}

/** Whose passkey has signed our challenge; undefined for one that is unknown, wrong, too late, or was answered before. */
export async function whoSigned(
  { db, secrets }: Ground,
  { origin, host }: Place,
  response: AuthenticationResponseJSON,
): Promise<string | undefined> {
  const passkey = await db
    .selectFrom('passkeys')
    .selectAll()
    .where('credential_id', '=', response.id)
    .executeTakeFirst()
  const asked = challengeOf(response.response.clientDataJSON)
  if (passkey === undefined || asked === undefined) return undefined
  const { verifyAuthenticationResponse } = await webauthn()
  const checked = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge => isOurs(secrets, 'sign-in', challenge),
    expectedOrigin: origin,
    expectedRPID: host,
    credential: {
      id: passkey.credential_id,
      publicKey: new Uint8Array(passkey.public_key),
      counter: Number(passkey.counter),
    },
    requireUserVerification: true,
  }).catch(() => undefined)
  if (!checked?.verified || !(await spend(db, passkey.user_id, asked))) return undefined
  const { newCounter, credentialBackedUp } = checked.authenticationInfo
  await db
    .updateTable('passkeys')
    .set({ counter: String(newCounter), is_synced: credentialBackedUp, last_used_at: new Date().toISOString() })
    .where('id', '=', passkey.id)
    .execute()
  return passkey.user_id
}

/** Calls one of the person's passkeys by another name; somebody else's is as if it were not there: refuses `object_not_found`. */
export async function renamePasskey(
  { db }: Ground,
  { user_id }: Person,
  { id, name }: { id: string; name: string },
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('passkeys')
    .set({ name })
    .where('id', '=', toUuid(id) ?? refuse('object_not_found'))
    .where('user_id', '=', user_id)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) refuse('object_not_found')
}

/** Removes one of the person's passkeys at once; somebody else's is as if it were not there: refuses `object_not_found`. */
export async function removePasskey({ db }: Ground, { user_id }: Person, wire_id: string): Promise<{ name: string }> {
  const id = toUuid(wire_id) ?? refuse('object_not_found')
  return db.transaction().execute(async trx => {
    await holdPerson(trx, user_id)
    const removed = await trx
      .deleteFrom('passkeys')
      .where('id', '=', id)
      .where('user_id', '=', user_id)
      .returning('name')
      .executeTakeFirst()
    if (removed === undefined) refuse('object_not_found')
    await settle(trx, user_id)
    return removed
  })
}

/** The challenge that was signed, as the browser says it; undefined for what no browser says. */
function challengeOf(clientDataJSON: string): string | undefined {
  try {
    const said = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { challenge?: unknown }
    return typeof said.challenge === 'string' ? said.challenge : undefined
  } catch {
    return undefined
  }
}
