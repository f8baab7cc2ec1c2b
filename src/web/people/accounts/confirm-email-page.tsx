/** The page behind the link in the e-mail to a new address. The address changes only when the person who asked for it is signed in. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { Waiting } from '../../ground/ui/page.tsx'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { Door } from './door.tsx'
import { postAuth, whoIsSignedIn } from './session.ts'

const route = getRouteApi('/confirm-email')

export function ConfirmEmailPage() {
  const { token } = route.useSearch()
  const queries = useQueryClient()
  const session = useQuery(whoIsSignedIn)
  const confirm = useMutation({
    mutationFn: () => postAuth('/verify-email', { token }),
    onSuccess: () => queries.invalidateQueries({ queryKey: whoIsSignedIn.queryKey }),
  })
  if (session.isPending) return <Waiting className="h-24" />
  const user = session.data?.user
  if (user === undefined)
    return (
      <Door title="Confirm your new e-mail" words="Sign in with your current address first.">
        <Link
          to="/sign-in"
          search={{ next: `/confirm-email?token=${encodeURIComponent(token)}` }}
          className={`${buttonLook('primary')} w-full`}
        >
          Sign in
        </Link>
      </Door>
    )
  return (
    <Door title="Confirm your new e-mail" words={`You are signed in as ${user.email}.`}>
      {confirm.isSuccess ? (
        <output className="flex flex-col gap-4">
          <Note>
            <strong>Your e-mail is changed.</strong> From now on, sign in with the new address.
          </Note>
          <Link to="/settings/profile" className={buttonLook('primary')}>
            To your profile
          </Link>
        </output>
      ) : (
        <div className="flex flex-col gap-4">
          <RefusalNote refused={confirm.error} />
          <Button look="primary" className="h-9" pending={confirm.isPending} onClick={() => confirm.mutate()}>
            Confirm the new address
          </Button>
        </div>
      )}
    </Door>
  )
}
