/** The page behind an invitation's link: the person signs up with the invited address, or signs in and joins. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { acceptInvitation, readInvitation } from '../../../people/organizations/api.ts'
import { ask, call, Refused } from '../../ground/call.ts'
import { moment } from '../../ground/figures/figures.ts'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { Waiting } from '../../ground/ui/page.tsx'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { Door } from '../accounts/door.tsx'
import { postAuth, whoIsSignedIn } from '../accounts/session.ts'
import { SignUpForm } from '../accounts/sign-up-page.tsx'

const route = getRouteApi('/invitations/$secret')

export function InvitationPage() {
  const { secret } = route.useParams()
  const invitation = useQuery(ask(readInvitation, { params: { secret } }))
  if (invitation.data === undefined)
    return (
      <Door title="Invitation">
        {invitation.error === null ? (
          <Waiting className="h-24" />
        ) : isGone(invitation.error) ? (
          <p className="text-ink-soft">
            This invitation link is invalid or has expired. Ask the person who invited you for a new one: in{' '}
            <em>Settings → Team</em> they press <em>New link</em> beside your address.
          </p>
        ) : (
          <RefusalNote refused={invitation.error} />
        )}
        <Link to="/" className={`${buttonLook('plain')} mt-4`}>
          To the dashboard
        </Link>
      </Door>
    )
  const { organization, invited_by, role, expires_at } = invitation.data
  return (
    <Door
      title={`Join ${organization}`}
      words={`${invited_by} invites you as ${role === 'member' ? 'a member' : `an ${role}`}. The link works until ${moment(expires_at)}.`}
    >
      <Joining secret={secret} email={invitation.data.email} hasAccount={invitation.data.has_account} />
    </Door>
  )
}

const isGone = (refused: Error) => refused instanceof Refused && refused.status === 404

function Joining({ secret, email, hasAccount }: { secret: string; email: string; hasAccount: boolean }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const session = useQuery(whoIsSignedIn)
  const enter = () => {
    queries.clear()
    return navigate({ to: '/' })
  }
  const accept = useMutation({ mutationFn: () => call(acceptInvitation, { params: { secret } }), onSuccess: enter })
  const signOut = useMutation({ mutationFn: () => postAuth('/sign-out'), onSuccess: () => queries.clear() })
  if (session.isPending) return <Waiting className="h-24" />
  const signedIn = session.data?.user
  if (signedIn?.email.toLowerCase() === email.toLowerCase())
    return (
      <div className="flex flex-col gap-4">
        <p className="text-ink-soft">You are signed in as {email}.</p>
        <RefusalNote refused={accept.error} />
        <Button look="primary" onClick={() => accept.mutate()} pending={accept.isPending}>
          Join
        </Button>
      </div>
    )
  if (signedIn !== undefined)
    return (
      <div className="flex flex-col gap-4">
        <Note kind="warning">
          The invitation is for <strong>{email}</strong>, and you are signed in as {signedIn.email}.
        </Note>
        <RefusalNote refused={signOut.error} />
        <Button onClick={() => signOut.mutate()} pending={signOut.isPending}>
          Sign out
        </Button>
      </div>
    )
  if (hasAccount)
    return (
      <Link
        to="/sign-in"
        search={{ next: `/invitations/${secret}`, email }}
        className={`${buttonLook('primary')} w-full`}
      >
        Sign in as {email} to join
      </Link>
    )
  return <SignUpForm email={email} invitation={secret} action="Create account and join" onDone={enter} />
}
