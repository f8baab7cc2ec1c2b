/** The sign-up page. It is open to everyone where the installation allows it, otherwise accounts need an invitation. */
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { z } from 'zod'
import { PASSWORD_MIN, readSetup, SignUp } from '../../../people/sign-in/api.ts'
import { ask } from '../../ground/call.ts'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { Door, FormStack } from './door.tsx'
import { postAuth } from './session.ts'

export function SignUpPage() {
  const isOpen = useSuspenseQuery(ask(readSetup)).data.sign_up === 'open'
  return isOpen ? <OpenSignUp /> : <ByInvitation />
}

function ByInvitation() {
  return (
    <Door
      title="You need an invitation"
      words="Ask an owner or admin of the workspace to invite you. The link in the invitation creates your account."
    >
      <Link to="/sign-in" className={`${buttonLook('primary')} w-full`}>
        Sign in
      </Link>
    </Door>
  )
}

function OpenSignUp() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const enter = () => {
    queries.clear()
    return navigate({ to: '/' })
  }
  return (
    <Door
      title="Create an account"
      words={
        <>
          Already have one?{' '}
          <Link to="/sign-in" className="text-accent underline-offset-2 hover:underline">
            Sign in
          </Link>
        </>
      }
    >
      <SignUpForm action="Create account" onDone={enter} />
    </Door>
  )
}

/** With an invitation, `email` and `invitation` are set and the address cannot be changed. */
export function SignUpForm({
  email,
  invitation,
  action,
  onDone,
}: {
  email?: string
  invitation?: string
  action: string
  onDone: () => unknown
}) {
  const form = useDraft(SignUp, {
    name: '',
    email: email ?? '',
    password: '',
    ...(invitation === undefined ? {} : { invitation }),
  })
  const errors = form.formState.errors
  const signUp = useMutation({
    mutationFn: (draft: z.input<typeof SignUp>) => postAuth('/sign-up/email', draft),
    onSuccess: onDone,
  })
  return (
    <FormStack onSubmit={submits(form, draft => signUp.mutate(draft))}>
      <TextField label="Your name" autoComplete="name" error={errors.name?.message} {...form.register('name')} />
      <TextField
        label="E-mail"
        type="email"
        autoComplete="email"
        readOnly={email !== undefined}
        hint={email === undefined ? undefined : 'The invitation is for this address.'}
        error={errors.email?.message}
        {...form.register('email')}
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="new-password"
        hint={`At least ${PASSWORD_MIN} characters.`}
        error={errors.password?.message}
        {...form.register('password')}
      />
      <RefusalNote refused={signUp.error} />
      <Button type="submit" look="primary" pending={signUp.isPending}>
        {action}
      </Button>
    </FormStack>
  )
}
