/** The pages for a forgotten password: one asks for the e-mail, the other is behind its link and sets a new password. */
import { useMutation } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { z } from 'zod'
import { PASSWORD_MIN, PasswordReset, PasswordResetRequest } from '../../../people/sign-in/api.ts'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { Door, FormStack } from './door.tsx'
import { postAuth } from './session.ts'

export function ForgotPasswordPage() {
  const form = useDraft(PasswordResetRequest, { email: '' })
  const request = useMutation({
    mutationFn: (draft: z.input<typeof PasswordResetRequest>) => postAuth('/request-password-reset', draft),
  })
  return (
    <Door title="Reset your password" words="We send you a link to set a new one.">
      {request.isSuccess ? (
        <output className="flex flex-col gap-4">
          <Note>
            <strong>If this address has an account, an e-mail is on its way.</strong> If no mail server is set up, the
            link is in the server’s log.
          </Note>
          <Link to="/sign-in" className={buttonLook('plain')}>
            Back to sign-in
          </Link>
        </output>
      ) : (
        <FormStack onSubmit={submits(form, draft => request.mutate(draft))}>
          <TextField
            label="E-mail"
            type="email"
            autoComplete="username"
            error={form.formState.errors.email?.message}
            {...form.register('email')}
          />
          <RefusalNote refused={request.error} />
          <Button type="submit" look="primary" pending={request.isPending}>
            Send the link
          </Button>
          <Link to="/sign-in" className="text-accent underline-offset-2 hover:underline">
            Back to sign-in
          </Link>
        </FormStack>
      )}
    </Door>
  )
}

const route = getRouteApi('/reset-password')

export function ResetPasswordPage() {
  const { token } = route.useSearch()
  const form = useDraft(PasswordReset, { token: token ?? '', newPassword: '' })
  const reset = useMutation({
    mutationFn: (draft: z.input<typeof PasswordReset>) => postAuth('/reset-password', draft),
  })
  if (token === undefined)
    return (
      <Door title="This link is incomplete" words="Open the link in the e-mail again, or ask for a new one.">
        <Link to="/forgot-password" className={buttonLook('plain')}>
          Ask for a new link
        </Link>
      </Door>
    )
  return (
    <Door title="Set a new password" words="All your browsers will be signed out.">
      {reset.isSuccess ? (
        <output className="flex flex-col gap-4">
          <Note>
            <strong>Your new password is set.</strong>
          </Note>
          <Link to="/sign-in" className={buttonLook('primary')}>
            Sign in
          </Link>
        </output>
      ) : (
        <FormStack onSubmit={submits(form, draft => reset.mutate(draft))}>
          <TextField
            label="New password"
            type="password"
            autoComplete="new-password"
            hint={`At least ${PASSWORD_MIN} characters.`}
            error={form.formState.errors.newPassword?.message}
            {...form.register('newPassword')}
          />
          <RefusalNote refused={reset.error} />
          <Button type="submit" look="primary" pending={reset.isPending}>
            Set password
          </Button>
        </FormStack>
      )}
    </Door>
  )
}
