/** Asking the browser to create or use a passkey. Failures become errors with a text for the person. */
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

/** Why passkeys do not work in this browser at this address. Undefined where they do. */
export function reasonAgainstPasskeys(): string | undefined {
  return browserSupportsWebAuthn() ? undefined : 'Passkeys work only over HTTPS or at localhost.'
}

/** Asks the browser to create a passkey for the signed-in person. @throws an error with a text for the person when none was created. */
export async function makePasskey(currentPassword: string | undefined): Promise<RegistrationResponseJSON> {
  const form = currentPassword === undefined ? {} : { currentPassword }
  const optionsJSON = (await postAuth('/passkey/ask', form)) as PublicKeyCredentialCreationOptionsJSON
  return startRegistration({ optionsJSON }).catch(error => {
    if (nameOf(error) === 'InvalidStateError') throw new Error('this device already holds a passkey for your account')
    throw cancelled('created')
  })
}

/** Signs in with a passkey that the browser offers. @throws an error with a text for the person when none was used. */
export async function usePasskey(): Promise<void> {
  const optionsJSON = (await postAuth('/passkey/ask-sign-in')) as PublicKeyCredentialRequestOptionsJSON
  const response: AuthenticationResponseJSON = await startAuthentication({ optionsJSON }).catch(() => {
    throw cancelled('used')
  })
  await postAuth('/passkey/sign-in', { response: asSent(response) })
}

/** Registers the created passkey with the server. Returns recovery codes if it is the first second factor, otherwise null. */
export async function registerPasskey(name: string, made: RegistrationResponseJSON): Promise<string[] | null> {
  const reply = await postAuth('/passkey/add', { name, response: asSent(made) })
  return (reply as { recoveryCodes: string[] | null }).recoveryCodes
}

type Sent<T extends { response: object }> = Omit<T, 'response' | 'clientExtensionResults'> & {
  response: T['response'] & Record<string, unknown>
  clientExtensionResults: Record<string, unknown>
}

/** The same object, with the open field types that the forms declare. */
const asSent = <T extends { response: object }>(response: T) => response as unknown as Sent<T>

const nameOf = (error: unknown) => (error instanceof Error ? error.name : undefined)

/** Browsers report the same error for a cancelled dialog, a timeout and a missing passkey. */
const cancelled = (what: string) =>
  new Error(`no passkey was ${what}: the dialog was cancelled or timed out, or there is no passkey`)
