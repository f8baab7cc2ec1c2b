/** The sign-in page. Afterwards it opens the page the person wanted. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { Fingerprint } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import { readSetup, SignIn } from '../../../people/sign-in/api.ts'
import { ask } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { Door, FormStack } from './door.tsx'
import { reasonAgainstPasskeys, usePasskey } from './passkey.ts'
import { SecondStep, stepAfter, type FactorKind } from './second-step.tsx'
import { postAuth } from './session.ts'
import { SignInFields } from './sign-in-fields.tsx'

const route = getRouteApi('/sign-in')

/** The path to open after sign-in. Only a path of this dashboard is allowed, so that a link cannot redirect people elsewhere. */
function safePath(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])/.test(next) ? next : '/'
}

export function SignInPage() {
  const queries = useQueryClient()
  const router = useRouter()
  const { next, email } = route.useSearch()
  const setup = useQuery(ask(readSetup))
  const form = useDraft(SignIn, { email: email ?? '', password: '' })
  const [ways, setWays] = useState<readonly FactorKind[]>()
  const goIn = () => {
    queries.clear()
    router.history.push(safePath(next))
  }
  const signIn = useMutation({
    mutationFn: async (draft: z.input<typeof SignIn>) => stepAfter(await postAuth('/sign-in/email', draft)),
    onSuccess: step => {
      if (step === undefined) return goIn()
      // The password is not kept longer than needed.
      form.resetField('password')
      setWays(step)
    },
  })
  const byPasskey = useMutation({ mutationFn: usePasskey, onSuccess: goIn })
  if (ways !== undefined)
    return (
      <Door title="One more step" words={`You are signing in as ${form.getValues('email')}.`}>
        <FormStack onSubmit={event => event.preventDefault()}>
          <SecondStep ways={ways} onDone={goIn} onBack={() => setWays(undefined)} />
        </FormStack>
      </Door>
    )
  return (
    <Door title="Sign in">
      <FormStack onSubmit={submits(form, draft => signIn.mutate(draft))}>
        <SignInFields form={form} />
        <RefusalNote refused={signIn.error ?? byPasskey.error} />
        <Button type="submit" look="primary" pending={signIn.isPending}>
          Sign in
        </Button>
        {reasonAgainstPasskeys() === undefined && (
          <Button icon={Fingerprint} className="h-9" pending={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
            Use a passkey
          </Button>
        )}
        <p className="flex flex-wrap justify-between gap-2 text-ink-soft">
          <Link to="/forgot-password" className="text-accent underline-offset-2 hover:underline">
            Forgot your password?
          </Link>
          {setup.data?.sign_up === 'open' && (
            <Link to="/sign-up" className="text-accent underline-offset-2 hover:underline">
              Create an account
            </Link>
          )}
        </p>
      </FormStack>
    </Door>
  )
}
