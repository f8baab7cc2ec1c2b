/** Settings, profile: name, e-mail, password, and the browsers one is signed in with. */
import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { z } from 'zod'
import { listSessions, replacePreferences } from '../../../people/accounts/api.ts'
import { EmailChange, PASSWORD_MIN, PasswordChange, Profile } from '../../../people/sign-in/api.ts'
import { myPreferences, useOrganizations } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { ZoneForm } from '../../ground/zone-form.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { PageHeader, Setting } from '../../ground/ui/page.tsx'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { useUnsaved } from '../../ground/ui/unsaved.ts'
import { AvatarForm } from './avatar.tsx'
import { SecondFactor } from './second-factor.tsx'
import { postAuth, whoIsSignedIn } from './session.ts'
import { Sessions } from './sessions.tsx'

export function ProfilePage() {
  const user = useSuspenseQuery(whoIsSignedIn).data?.user
  if (user === undefined) return null
  return (
    <>
      <PageHeader title="Profile" words="You, in every workspace." />
      <Setting title="Name" words="What your team sees.">
        <NameForm name={user.name} />
      </Setting>
      <Setting title="Picture" words="Stands beside your name, for your team and for you.">
        <AvatarForm user={user} />
      </Setting>
      <Setting
        title="E-mail"
        words="You sign in with it. A new one counts once you have opened the link in a mail to it."
      >
        <EmailForm email={user.email} />
      </Setting>
      <Setting title="Time zone" words="Whose days and times you see, in every workspace.">
        <OwnZone />
      </Setting>
      <Setting title="Password" words="A change signs every other browser out.">
        <PasswordForm />
      </Setting>
      <Setting
        title="Second factor"
        words="Asked for besides your password. Whoever learns the password alone does not get in."
      >
        <SecondFactor />
      </Setting>
      <Setting title="Browsers" words="Where you are signed in. Signing one out works at once.">
        <Sessions />
      </Setting>
    </>
  )
}

function OwnZone() {
  const queries = useQueryClient()
  const preferences = useQuery(myPreferences).data
  const workspace = useOrganizations().find(({ active }) => active)?.timezone ?? 'UTC'
  if (preferences === undefined) return null
  return (
    <ZoneForm
      key={`${preferences.timezone}`}
      zone={preferences.timezone}
      none={`As the workspace: ${workspace}`}
      save={async timezone => {
        queries.setQueryData(myPreferences.queryKey, await call(replacePreferences, { body: { timezone } }))
      }}
    />
  )
}

const FORM = 'flex max-w-md flex-col items-stretch gap-3 [&>button]:self-start'
const NameDraft = z.object({ name: Profile.shape.name })

function NameForm({ name }: { name: string }) {
  const queries = useQueryClient()
  const form = useDraft(NameDraft, { name })
  useUnsaved(form.formState.isDirty, 'your name')
  const save = useMutation({
    mutationFn: (draft: z.input<typeof NameDraft>) => postAuth('/update-user', draft),
    onSuccess: async (_, draft) => {
      await queries.invalidateQueries({ queryKey: whoIsSignedIn.queryKey })
      form.reset(draft)
      notify('Your name is saved')
    },
  })
  return (
    <form noValidate className={FORM} onSubmit={submits(form, draft => save.mutate(draft))}>
      <TextField
        label="Name"
        hideLabel
        autoComplete="name"
        error={form.formState.errors.name?.message}
        {...form.register('name')}
      />
      <RefusalNote refused={save.error} />
      <Button type="submit" look="primary" pending={save.isPending}>
        Save name
      </Button>
    </form>
  )
}

function EmailForm({ email }: { email: string }) {
  const form = useDraft(EmailChange, { newEmail: email, currentPassword: '' })
  const errors = form.formState.errors
  const ask = useMutation({
    mutationFn: (draft: z.input<typeof EmailChange>) => postAuth('/change-email', draft),
    onSuccess: (_, { newEmail }) => form.reset({ newEmail, currentPassword: '' }),
  })
  return (
    <form noValidate className={FORM} onSubmit={submits(form, draft => ask.mutate(draft))}>
      <TextField
        label="New e-mail"
        type="email"
        autoComplete="email"
        error={errors.newEmail?.message}
        {...form.register('newEmail')}
      />
      <TextField
        label="Current password"
        type="password"
        autoComplete="current-password"
        error={errors.currentPassword?.message}
        {...form.register('currentPassword')}
      />
      <RefusalNote refused={ask.error} />
      {ask.isSuccess && (
        <output>
          <Note>
            <strong>A mail is on its way to {ask.variables.newEmail}.</strong> Open its link within an hour. Until then
            you sign in with {email}.
          </Note>
        </output>
      )}
      <Button type="submit" look="primary" pending={ask.isPending}>
        Change e-mail
      </Button>
    </form>
  )
}

function PasswordForm() {
  const queries = useQueryClient()
  const form = useDraft(PasswordChange, { currentPassword: '', newPassword: '' })
  const errors = form.formState.errors
  const save = useMutation({
    mutationFn: (draft: z.input<typeof PasswordChange>) => postAuth('/change-password', draft),
    onSuccess: async () => {
      form.reset({ currentPassword: '', newPassword: '' })
      await queries.invalidateQueries({ queryKey: [listSessions.route] })
      notify('Your password is changed', 'Every other browser is signed out.')
    },
  })
  return (
    <form noValidate className={FORM} onSubmit={submits(form, draft => save.mutate(draft))}>
      <TextField
        label="Current password"
        type="password"
        autoComplete="current-password"
        error={errors.currentPassword?.message}
        {...form.register('currentPassword')}
      />
      <TextField
        label="New password"
        type="password"
        autoComplete="new-password"
        hint={`At least ${PASSWORD_MIN} characters.`}
        error={errors.newPassword?.message}
        {...form.register('newPassword')}
      />
      <RefusalNote refused={save.error} />
      <Button type="submit" look="primary" pending={save.isPending}>
        Change password
      </Button>
    </form>
  )
}
