/**
 * The dialog that opens over the page when the session has ended, so that unsaved input is kept. The page continues only for the same
 * person in the same workspace. For anyone else the dashboard is loaded from the start.
 */
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Fingerprint } from 'lucide-react'
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { z } from 'zod'
import { SignIn } from '../../../people/sign-in/api.ts'
import { activateOrganization } from '../../../people/organizations/api.ts'
import { myOrganizations } from '../../ground/active.ts'
import { call, Refused } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm } from '../../ground/ui/dialog.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { reasonAgainstPasskeys, usePasskey } from './passkey.ts'
import { SecondStep, stepAfter, type FactorKind } from './second-step.tsx'
import { postAuth, readSession, type SignedIn, whoIsSignedIn } from './session.ts'
import { SignInFields } from './sign-in-fields.tsx'

let hasEnded = false
const listeners = new Set<() => void>()

function setEnded(ended: boolean) {
  hasEnded = ended
  for (const listener of listeners) listener()
}

/** Called for every answer that says nobody is signed in, while the page still has a signed-in person. */
export const sessionHasEnded = () => setEnded(true)

const useHasEnded = () =>
  useSyncExternalStore(
    listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => hasEnded,
  )

/** Short enough that a tab continues by itself soon after the person has signed in in another tab. */
const POLL_MS = 5_000

/** The session of the current cookie, which may be another person's than `whoIsSignedIn`, for whom the page was opened. */
const sessionNow = queryOptions({
  queryKey: [...whoIsSignedIn.queryKey, 'now'],
  queryFn: readSession,
  gcTime: 0,
  refetchInterval: POLL_MS,
})

/** Opens by itself when the session ends. */
export function SignInAgain() {
  const isOpen = useHasEnded()
  const queries = useQueryClient()
  const person = queries.getQueryData(whoIsSignedIn.queryKey)?.user
  return isOpen && person !== undefined && <SessionEnded person={person} />
}

function SessionEnded({ person }: { person: SignedIn['user'] }) {
  const continuePage = useContinuePage()
  const session = useQuery(sessionNow).data
  const isBack = session?.user.id === person.id
  useEffect(() => {
    if (isBack) continuePage()
  }, [isBack, continuePage])
  // A call sent before the cookie was renewed is also refused, so the dialog waits for the current session.
  return (
    <Dialog
      open={session !== undefined && !isBack}
      onClose={() => undefined}
      firm
      title="Your session has ended"
      description="Sign in to continue. Your unsaved changes are still here."
    >
      <SignInForm person={person} />
    </Dialog>
  )
}

/** Closes the dialog and reads all data again, without mounting the page again. */
function useContinuePage() {
  const queries = useQueryClient()
  return () => {
    setEnded(false)
    void queries.invalidateQueries()
  }
}

function SignInForm({ person }: { person: SignedIn['user'] }) {
  const queries = useQueryClient()
  const continuePage = useContinuePage()
  const form = useDraft(SignIn, { email: person.email, password: '' })
  const [ways, setWays] = useState<readonly FactorKind[]>()
  const comeBack = useMutation({
    mutationFn: async () => {
      const session = await readSession()
      return (
        session?.user.id === person.id &&
        (await activatePreviousWorkspace(queries.getQueryData(myOrganizations.queryKey)?.data))
      )
    },
    gcTime: 0,
    onSuccess: isSame => {
      // Another person, or the same one without this workspace, must not see this screen.
      if (!isSame) return location.assign('/')
      continuePage()
      notify('You are signed in again', 'Your unsaved changes are still here: save them again.')
    },
  })
  const signIn = useMutation({
    mutationFn: async (draft: z.input<typeof SignIn>) => stepAfter(await postAuth('/sign-in/email', draft)),
    gcTime: 0,
    onSuccess: step => {
      if (step === undefined) return comeBack.mutate()
      form.resetField('password')
      setWays(step)
    },
  })
  const byPasskey = useMutation({ mutationFn: usePasskey, gcTime: 0, onSuccess: () => comeBack.mutate() })
  if (ways !== undefined)
    return (
      <DialogForm onSubmit={() => undefined}>
        <DialogBody>
          <SecondStep ways={ways} onDone={() => comeBack.mutate()} onBack={() => setWays(undefined)} />
          <RefusalNote refused={comeBack.error} />
        </DialogBody>
      </DialogForm>
    )
  return (
    <DialogForm onSubmit={submits(form, draft => signIn.mutate(draft))}>
      <DialogBody>
        <SignInFields form={form} isAgain />
        <RefusalNote refused={signIn.error ?? byPasskey.error ?? comeBack.error} />
        <a
          href="/forgot-password"
          target="_blank"
          rel="noreferrer"
          className="self-start text-accent underline-offset-2 hover:underline"
        >
          Forgot your password?
        </a>
      </DialogBody>
      <DialogFoot>
        <Button onClick={() => location.assign('/')}>Leave this page</Button>
        {reasonAgainstPasskeys() === undefined && (
          <Button icon={Fingerprint} pending={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
            Use a passkey
          </Button>
        )}
        <Button type="submit" look="primary" pending={signIn.isPending || comeBack.isPending}>
          Sign in
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}

/** Switches the new session to the page's workspace, because the server chose one itself. False when it is no longer open to the person. */
async function activatePreviousWorkspace(
  workspaces: readonly { id: string; active: boolean }[] | undefined,
): Promise<boolean> {
  const id = workspaces?.find(one => one.active)?.id
  if (id === undefined) return true
  try {
    await call(activateOrganization, { params: { id } })
    return true
  } catch (error) {
    if (error instanceof Refused && (error.status === 404 || error.status === 409)) return false
    throw error
  }
}
