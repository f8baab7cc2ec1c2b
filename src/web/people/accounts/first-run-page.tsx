/** The page of the first visit. It creates the owner's account and the first workspace. */
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { z } from 'zod'
import { createOwner, FirstOwner, PASSWORD_MIN, readSetup } from '../../../people/sign-in/api.ts'
import { ask, call } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { Door, FormStack } from './door.tsx'

export function FirstRunPage() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const needsCode = useSuspenseQuery(ask(readSetup)).data.needs_code
  const form = useDraft(FirstOwner, { name: '', email: '', password: '', organization: '', setup_code: '' })
  const errors = form.formState.errors
  const create = useMutation({
    mutationFn: (body: z.input<typeof FirstOwner>) => call(createOwner, { body }),
    onSuccess: () => {
      queries.clear()
      return navigate({ to: '/' })
    },
  })
  return (
    <Door
      title="Set up Sluice"
      words="This installation has no account yet. You become its owner; others join by invitation."
    >
      <FormStack onSubmit={submits(form, draft => create.mutate(draft))}>
        {needsCode && (
          <TextField
            label="Setup code"
            autoComplete="off"
            spellCheck={false}
            hint="It is in the server’s log, in the line “Sluice has no owner yet”."
            error={errors.setup_code?.message}
            className="[&_input]:font-mono"
            {...form.register('setup_code')}
          />
        )}
        <TextField label="Your name" autoComplete="name" error={errors.name?.message} {...form.register('name')} />
        <TextField
          label="E-mail"
          type="email"
          autoComplete="email"
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
        <TextField
          label="Workspace"
          autoComplete="organization"
          hint="Holds your campaigns, clicks and keys. You can rename it and add more workspaces later."
          error={errors.organization?.message}
          {...form.register('organization')}
        />
        <RefusalNote refused={create.error} />
        <Button type="submit" look="primary" pending={create.isPending}>
          Create account and workspace
        </Button>
      </FormStack>
    </Door>
  )
}
