/** The e-mail and password fields of sign-in. */
import type { UseFormReturn } from 'react-hook-form'
import type { z } from 'zod'
import type { SignIn } from '../../../people/sign-in/api.ts'
import { TextField } from '../../ground/ui/field.tsx'

type Draft = z.input<typeof SignIn>

type Fields = {
  form: UseFormReturn<Draft, unknown, Draft>
  /** The e-mail is filled in already, so the password takes the focus. */
  isAgain?: boolean
}

export function SignInFields({ form, isAgain }: Fields) {
  const errors = form.formState.errors
  return (
    <>
      <TextField
        label="E-mail"
        type="email"
        autoComplete="username"
        error={errors.email?.message}
        {...form.register('email')}
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        error={errors.password?.message}
        data-typed-first={isAgain}
        {...form.register('password')}
      />
    </>
  )
}
