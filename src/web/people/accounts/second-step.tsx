/** The step after the password: a code of the app, a passkey, or a recovery code. */
import { useMutation } from '@tanstack/react-query'
import { Fingerprint } from 'lucide-react'
import { useState } from 'react'
import { Refused } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { usePasskey } from './passkey.ts'
import { postAuth } from './session.ts'

export type Way = 'totp' | 'passkey' | 'backup-code'

/** Which ways the answer to a right password leaves; undefined where it was enough. */
export function stepAfter(answer: unknown): readonly Way[] | undefined {
  const { twoFactorRedirect, twoFactorMethods } = answer as { twoFactorRedirect?: true; twoFactorMethods?: Way[] }
  return twoFactorRedirect === true ? twoFactorMethods : undefined
}

const LINKS: Record<Way, string> = {
  totp: 'Use the code of your app',
  passkey: 'Use a passkey',
  'backup-code': 'Use a recovery code',
}

const LINK = 'text-accent underline-offset-2 hover:underline'

/** Codes that say that the password has to be shown again. */
const OVER = ['INVALID_TWO_FACTOR_COOKIE', 'TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE']

type StepProps = {
  ways: readonly Way[]
  onDone: () => void
  /** Back to the password. */
  onBack: () => void
}

export function SecondStep({ ways, onDone, onBack }: StepProps) {
  const [way, setWay] = useState<Way | undefined>(ways[0])
  const [code, setCode] = useState('')
  const signIn = useMutation({
    mutationFn: async () => {
      if (way === 'passkey') return usePasskey()
      await postAuth(way === 'totp' ? '/two-factor/verify-totp' : '/two-factor/verify-backup-code', { code })
    },
    gcTime: 0,
    onSuccess: onDone,
  })
  const isOver = signIn.error instanceof Refused && OVER.includes(signIn.error.code ?? '')
  const turnTo = (other: Way) => {
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
      {isOver ? (
        <Button look="primary" className="h-9" onClick={onBack}>
          Sign in anew
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
        {!isOver && (
          <button type="button" className={LINK} onClick={onBack}>
            Back
          </button>
        )}
      </p>
    </>
  )
}

type CodeProps = { way: Way | undefined; code: string; onType: (code: string) => void }

function CodeField({ way, code, onType }: CodeProps) {
  const isApp = way === 'totp'
  return (
    <TextField
      label={isApp ? 'Code of your app' : 'Recovery code'}
      hint={isApp ? 'Six digits.' : 'One of the ten you have kept. It is used up.'}
      inputMode={isApp ? 'numeric' : 'text'}
      autoComplete={isApp ? 'one-time-code' : 'off'}
      className="[&_input]:font-mono"
      spellCheck={false}
      // The step stands where the password did, and nothing else is asked for.
      ref={field => field?.focus()}
      value={code}
      onChange={event => onType(event.target.value)}
    />
  )
}
