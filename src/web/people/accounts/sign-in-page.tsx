/** Signing in, and going on to where one wanted to be. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import type { z } from 'zod'
import { readSetup, SignIn } from '../../../people/sign-in/api.ts'
import { ask } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { Door, FormStack } from './door.tsx'
import { postAuth } from './session.ts'
import { SignInFields } from './sign-in-fields.tsx'

const route = getRouteApi('/sign-in')

/** Only a path of this dashboard: an address elsewhere would let a link lead people away after they signed in. */
function inside(next: string | undefined): string {
  return next !== undefined && /^\/(?![/\\])/.test(next) ? next : '/'
}

export function SignInPage() {
  const queries = useQueryClient()
  const router = useRouter()
  const { next, email } = route.useSearch()
  const setup = useQuery(ask(readSetup))
  const form = useDraft(SignIn, { email: email ?? '', password: '' })
  const signIn = useMutation({
    mutationFn: (draft: z.input<typeof SignIn>) => postAuth('/sign-in/email', draft),
    onSuccess: () => {
      queries.clear()
      router.history.push(inside(next))
    },
  })
  return (
    <Door title="Sign in">
      <FormStack onSubmit={submits(form, draft => signIn.mutate(draft))}>
        <SignInFields form={form} />
        <RefusalNote refused={signIn.error} />
        <Button type="submit" look="primary" pending={signIn.isPending}>
          Sign in
        </Button>
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
