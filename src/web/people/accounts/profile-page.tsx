/** Settings, Profile: the person's name, picture, e-mail, time zone, password, second factors and signed-in browsers. */
import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { z } from 'zod'
import { listSessions, replacePreferences } from '../../../people/accounts/api.ts'
import { EmailChange, PASSWORD_MIN, PasswordChange, Profile } from '../../../people/sign-in/api.ts'
import { myPreferences, useOrganizations } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { ZoneForm } from '../../ground/zone-form.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { PageHeader, Setting } from '../../ground/ui/page.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { useUnsaved } from '../../ground/ui/unsaved.ts'
import { AvatarForm } from './avatar.tsx'
import { SecondFactorSettings } from './second-factor.tsx'
import { postAuth, whoIsSignedIn } from './session.ts'
import { Sessions } from './sessions.tsx'

export function ProfilePage() {
  const user = useSuspenseQuery(whoIsSignedIn).data?.user
  if (user === undefined) return null
  return (
    <>
      <PageHeader title="Profile" words="These settings apply in every workspace." />
      <Setting title="Name" words="Shown to your team.">
        <NameForm name={user.name} />
      </Setting>
      <Setting title="Picture" words="Shown beside your name.">
        <AvatarForm user={user} />
      </Setting>
      <Setting
        title="E-mail"
        words="You sign in with it. A change takes effect when you open the link that we e-mail to the new address."
      >
        <EmailForm email={user.email} />
      </Setting>
      <Setting title="Time zone" words="Days and times are shown in this zone, in every workspace.">
        <OwnZone />
      </Setting>
      <Setting title="Password" words="Changing it signs out every other browser.">
        <PasswordForm />
      </Setting>
      <Setting
        title="Second factor"
        words="Required in addition to your password, so that a stolen password alone is not enough."
      >
        <SecondFactorSettings />
      </Setting>
      <Setting title="Browsers" words="Browsers that are signed in. Signing one out takes effect at once.">
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
    <PartForm className="max-w-md" action="Save name" onSubmit={submits(form, draft => save.mutate(draft))} save={save}>
      <TextField
        label="Name"
        hideLabel
        autoComplete="name"
        error={form.formState.errors.name?.message}
        {...form.register('name')}
      />
    </PartForm>
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
    <PartForm
      className="max-w-md"
      action="Change e-mail"
      onSubmit={submits(form, draft => ask.mutate(draft))}
      save={ask}
    >
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
      {ask.isSuccess && (
        <output>
          <Note>
            <strong>An e-mail is on its way to {ask.variables.newEmail}.</strong> Open its link within an hour. Until
            then, sign in with {email}.
          </Note>
        </output>
      )}
    </PartForm>
  )
}

function PasswordForm() {
  const refresh = useRefresh()
  const form = useDraft(PasswordChange, { currentPassword: '', newPassword: '' })
  const errors = form.formState.errors
  const save = useMutation({
    mutationFn: (draft: z.input<typeof PasswordChange>) => postAuth('/change-password', draft),
    onSuccess: async () => {
      form.reset({ currentPassword: '', newPassword: '' })
      await refresh(listSessions)
      notify('Your password is changed', 'Every other browser is signed out.')
    },
  })
  return (
    <PartForm
      className="max-w-md"
      action="Change password"
      onSubmit={submits(form, draft => save.mutate(draft))}
      save={save}
    >
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
    </PartForm>
  )
}
