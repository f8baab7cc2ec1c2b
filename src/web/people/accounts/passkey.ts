/** How the browser is asked for a passkey, and what it says when there is none, in words for whoever sits before it. */
import {
  type AuthenticationResponseJSON,
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser'
import { postAuth } from './session.ts'

/** Why this browser makes and finds no passkeys at this address; undefined where it does. */
export function reasonAgainstPasskeys(): string | undefined {
  return browserSupportsWebAuthn() ? undefined : 'Browsers know passkeys over https, or at localhost, only.'
}

/** Has the browser make one for whoever is signed in. @throws with words where none came of it. */
export async function makePasskey(currentPassword: string | undefined): Promise<RegistrationResponseJSON> {
  const wish = currentPassword === undefined ? {} : { currentPassword }
  const optionsJSON = (await postAuth('/passkey/ask', wish)) as PublicKeyCredentialCreationOptionsJSON
  return startRegistration({ optionsJSON }).catch(error => {
    if (nameOf(error) === 'InvalidStateError') throw new Error('what you chose holds a passkey of this account already')
    throw cancelled('made')
  })
}

/** Signs in with one of the passkeys the browser finds. @throws with words where none was used. */
export async function usePasskey(): Promise<void> {
  const optionsJSON = (await postAuth('/passkey/ask-sign-in')) as PublicKeyCredentialRequestOptionsJSON
  const response: AuthenticationResponseJSON = await startAuthentication({ optionsJSON }).catch(() => {
    throw cancelled('used')
  })
  await postAuth('/passkey/sign-in', { response: asSent(response) })
}

/** Takes in the passkey that was made. Answers the recovery codes, where it is the first second factor. */
export async function keepPasskey(name: string, made: RegistrationResponseJSON): Promise<string[] | null> {
  const reply = await postAuth('/passkey/add', { name, response: asSent(made) })
  return (reply as { recoveryCodes: string[] | null }).recoveryCodes
}

type Sent<T extends { response: object }> = Omit<T, 'response' | 'clientExtensionResults'> & {
  response: T['response'] & Record<string, unknown>
  clientExtensionResults: Record<string, unknown>
}

/** The same, to types that know no more than that fields have names. */
const asSent = <T extends { response: object }>(said: T) => said as unknown as Sent<T>

const nameOf = (error: unknown) => (error instanceof Error ? error.name : undefined)

/** Browsers do not tell a person who says no from one who has none, or is too slow. */
const cancelled = (what: string) =>
  new Error(`no passkey was ${what}: it was cancelled, took too long, or there is none`)
