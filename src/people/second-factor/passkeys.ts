/**
 * Passkeys: registering them and signing in with them. A passkey counts as both factors and signs in without a password, so user
 * verification (fingerprint, face or PIN) is always required. Each challenge is accepted once.
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
import { CHALLENGE_MS, isValidChallenge, newChallenge } from './challenges.ts'
import { newRecoveryCodes, codeEncryption } from './recovery-codes.ts'
import { lockPerson, NO_SECRET, updateFactorFlag } from './second-factor.ts'
import { markCodeUsed } from './spent-codes.ts'

/** The site of the browser. A passkey is bound to the host name and signs the whole origin. */
export type RelyingParty = { origin: string; host: string }

/** The COSE numbers of EdDSA, ES256 and RS256. Every authenticator supports at least one of them. */
const ALGORITHMS = [-8, -7, -257]

/** The length of 1023 bytes in base64url, the longest id that the standard allows. */
const ID_LENGTH = 1364
/** The known transports between browser and authenticator. They are stored as hints for the browser; unknown ones are dropped. */
const TRANSPORTS = ['usb', 'nfc', 'ble', 'smart-card', 'hybrid', 'internal']

/** Loaded on first use, because it is half as large as the rest of sign-in together. */
const webauthn = () => import('@simplewebauthn/server')

/** The options for `navigator.credentials.create`. They exclude the person's existing passkeys. */
export async function askForPasskey(
  { db, secrets }: Ground,
  { host }: RelyingParty,
  { user_id, email, name }: Person,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const existing = await db
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
    excludeCredentials: existing,
    supportedAlgorithmIDs: ALGORITHMS,
    // Resident keys let the browser find the passkey without an e-mail address. Required verification is what makes it both factors.
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
}

/**
 * Verifies and stores a new passkey. Returns its id, and recovery codes if it is the person's first second factor. Undefined when the response
 * does not verify. Refuses `already_exists`.
 */
export async function addPasskey(
  { db, secrets }: Ground,
  { origin, host }: RelyingParty,
  { user_id }: Person,
  { name, response }: { name: string; response: RegistrationResponseJSON },
): Promise<{ id: string; recovery_codes: string[] | null } | undefined> {
  const { verifyRegistrationResponse } = await webauthn()
  const challenge = challengeOf(response.response.clientDataJSON)
  const checked = await verifyRegistrationResponse({
    response,
    expectedChallenge: given => isValidChallenge(secrets, user_id, given),
    expectedOrigin: origin,
    expectedRPID: host,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => undefined)
  if (!checked?.verified || challenge === undefined || !(await markCodeUsed(db, user_id, challenge))) return undefined
  const { credential, credentialBackedUp } = checked.registrationInfo
  if (credential.id.length > ID_LENGTH) return undefined
  const id = newId()
  const codes = newRecoveryCodes()
  const backup_codes = await codeEncryption(secrets).encrypt(JSON.stringify(codes))
  try {
    return await db.transaction().execute(async trx => {
      await lockPerson(trx, user_id)
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
      // An unfinished app setup may have left a row. Its recovery codes were never shown, so they are replaced.
      const row = { secret: NO_SECRET, backup_codes, verified: false }
      await trx
        .insertInto('two_factors')
        .values({ id: newId(), user_id, ...row })
        .onConflict(on => on.column('user_id').doUpdateSet(row))
        .execute()
      await updateFactorFlag(trx, user_id)
      return { id, recovery_codes: codes }
    })
  } catch (error) {
    if (!isTaken(error)) throw error
    refuse('already_exists', { error: 'this passkey is already registered' })
  }
}

/** The options for `navigator.credentials.get`. Any passkey of this host is accepted, because the passkey identifies its person. */
export async function askForSignature(
  { secrets }: Pick<Ground, 'secrets'>,
  { host }: RelyingParty,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await webauthn()
  return generateAuthenticationOptions({
    rpID: host,
    challenge: new Uint8Array(newChallenge(secrets, 'sign-in')),
    timeout: CHALLENGE_MS,
    userVerification: 'required',
  })
}

/** The id of the person whose passkey signed the challenge. Undefined when the passkey is unknown or the response is wrong, late or reused. */
export async function verifySignature(
  { db, secrets }: Ground,
  { origin, host }: RelyingParty,
  response: AuthenticationResponseJSON,
): Promise<string | undefined> {
  const passkey = await db
    .selectFrom('passkeys')
    .selectAll()
    .where('credential_id', '=', response.id)
    .executeTakeFirst()
  const challenge = challengeOf(response.response.clientDataJSON)
  if (passkey === undefined || challenge === undefined) return undefined
  const { verifyAuthenticationResponse } = await webauthn()
  const checked = await verifyAuthenticationResponse({
    response,
    expectedChallenge: given => isValidChallenge(secrets, 'sign-in', given),
    expectedOrigin: origin,
    expectedRPID: host,
    credential: {
      id: passkey.credential_id,
      publicKey: new Uint8Array(passkey.public_key),
      counter: Number(passkey.counter),
    },
    requireUserVerification: true,
  }).catch(() => undefined)
  if (!checked?.verified || !(await markCodeUsed(db, passkey.user_id, challenge))) return undefined
  const { newCounter, credentialBackedUp } = checked.authenticationInfo
  await db
    .updateTable('passkeys')
    .set({ counter: String(newCounter), is_synced: credentialBackedUp, last_used_at: new Date().toISOString() })
    .where('id', '=', passkey.id)
    .execute()
  return passkey.user_id
}

/** Renames one of the person's passkeys. Refuses `object_not_found`, also for somebody else's. */
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

/** Removes one of the person's passkeys at once and returns its name. Refuses `object_not_found`, also for somebody else's. */
export async function removePasskey({ db }: Ground, { user_id }: Person, wire_id: string): Promise<{ name: string }> {
  const id = toUuid(wire_id) ?? refuse('object_not_found')
  return db.transaction().execute(async trx => {
    await lockPerson(trx, user_id)
    const removed = await trx
      .deleteFrom('passkeys')
      .where('id', '=', id)
      .where('user_id', '=', user_id)
      .returning('name')
      .executeTakeFirst()
    if (removed === undefined) refuse('object_not_found')
    await updateFactorFlag(trx, user_id)
    return removed
  })
}

/** The challenge that the browser's client data names. Undefined when the client data is malformed. */
function challengeOf(clientDataJSON: string): string | undefined {
  try {
    const clientData = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as { challenge?: unknown }
    return typeof clientData.challenge === 'string' ? clientData.challenge : undefined
  } catch {
    return undefined
  }
}
