/** The step after the password: a code from the app, a passkey, or a recovery code. */
import { useMutation } from '@tanstack/react-query'
import { Fingerprint } from 'lucide-react'
import { useState } from 'react'
import { Refused } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { usePasskey } from './passkey.ts'
import { postAuth } from './session.ts'

export type FactorKind = 'totp' | 'passkey' | 'backup-code'

/** The second factors that the answer to a correct password accepts. Undefined when the password was enough. */
export function stepAfter(answer: unknown): readonly FactorKind[] | undefined {
  const { twoFactorRedirect, twoFactorMethods } = answer as {
    twoFactorRedirect?: true
    twoFactorMethods?: FactorKind[]
  }
  return twoFactorRedirect === true ? twoFactorMethods : undefined
}

const LINKS: Record<FactorKind, string> = {
  totp: 'Use a code from your app',
  passkey: 'Use a passkey',
  'backup-code': 'Use a recovery code',
}

const LINK = 'text-accent underline-offset-2 hover:underline'

/** Error codes after which the person must start again with the password. */
const STEP_EXPIRED = ['INVALID_TWO_FACTOR_COOKIE', 'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE']

type StepProps = {
  ways: readonly FactorKind[]
  onDone: () => void
  /** Back to the password. */
  onBack: () => void
}

export function SecondStep({ ways, onDone, onBack }: StepProps) {
  const [way, setWay] = useState<FactorKind | undefined>(ways[0])
  const [code, setCode] = useState('')
  const signIn = useMutation({
    mutationFn: async () => {
      if (way === 'passkey') return usePasskey()
      await postAuth(way === 'totp' ? '/two-factor/verify-totp' : '/two-factor/verify-backup-code', { code })
    },
    gcTime: 0,
    onSuccess: onDone,
  })
  const isExpired = signIn.error instanceof Refused && STEP_EXPIRED.includes(signIn.error.code ?? '')
  const turnTo = (other: FactorKind) => {
    setWay(other)
    setCode('')
    signIn.reset()
  }
  return (
    <>
      {way === 'passkey' ? (
        <p className="text-ink-soft">The browser asks for your finger, face or PIN.</p>
      ) : (
        <CodeField key={way} way={way} code={code} onType={setCode} />
      )}
      <RefusalNote refused={signIn.error} />
      {isExpired ? (
        <Button look="primary" className="h-9" onClick={onBack}>
          Start again
        </Button>
      ) : (
        <Button
          look="primary"
          className="h-9"
          type={way === 'passkey' ? 'button' : 'submit'}
          {...(way === 'passkey' && { icon: Fingerprint })}
          pending={signIn.isPending}
          onClick={event => {
            event.preventDefault()
            signIn.mutate()
          }}
        >
          {way === 'passkey' ? 'Use a passkey' : 'Sign in'}
        </Button>
      )}
      <p className="flex flex-col items-start gap-1.5 text-ink-soft">
        {ways
          .filter(other => other !== way)
          .map(other => (
            <button key={other} type="button" className={LINK} onClick={() => turnTo(other)}>
              {LINKS[other]}
            </button>
          ))}
        {!isExpired && (
          <button type="button" className={LINK} onClick={onBack}>
            Back
          </button>
        )}
      </p>
    </>
  )
}

type CodeProps = { way: FactorKind | undefined; code: string; onType: (code: string) => void }

function CodeField({ way, code, onType }: CodeProps) {
  const isApp = way === 'totp'
  return (
    <TextField
      label={isApp ? 'Code from your app' : 'Recovery code'}
      hint={isApp ? 'Six digits.' : 'One of the ten you saved. Each works once.'}
      inputMode={isApp ? 'numeric' : 'text'}
      autoComplete={isApp ? 'one-time-code' : 'off'}
      className="[&_input]:font-mono"
      spellCheck={false}
      // It is the only field of this step, so it takes the focus.
      ref={field => field?.focus()}
      value={code}
      onChange={event => onType(event.target.value)}
    />
  )
}
