/**
 * A session that ended elsewhere, while somebody is at work: signing in again over the page keeps what was typed there. The page goes on
 * only for the same person in the same workspace; for anyone else the dashboard starts anew.
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
import { SecondStep, stepAfter, type Way } from './second-step.tsx'
import { postAuth, readSession, type SignedIn, whoIsSignedIn } from './session.ts'
import { SignInFields } from './sign-in-fields.tsx'

let isOver = false
const listeners = new Set<() => void>()

function tell(over: boolean) {
  isOver = over
  for (const listener of listeners) listener()
}

/** Called for every answer that says nobody is signed in, while the page knows who was. */
export const sessionIsOver = () => tell(true)

const useIsOver = () =>
  useSyncExternalStore(
    listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => isOver,
  )

/** Often enough that a tab goes on by itself soon after another one has signed in. */
const LOOK_AGAIN_MS = 5_000

/** Apart from `whoIsSignedIn`, which says whose page this is. */
const whoIsThere = queryOptions({
  queryKey: [...whoIsSignedIn.queryKey, 'now'],
  queryFn: readSession,
  gcTime: 0,
  refetchInterval: LOOK_AGAIN_MS,
})

/** Opens by itself over whatever is shown. */
export function SignInAgain() {
  const over = useIsOver()
  const queries = useQueryClient()
  const person = queries.getQueryData(whoIsSignedIn.queryKey)?.user
  return over && person !== undefined && <Ended person={person} />
}

function Ended({ person }: { person: SignedIn['user'] }) {
  const goOn = useGoOn()
  const there = useQuery(whoIsThere).data
  const isBack = there?.user.id === person.id
  useEffect(() => {
    if (isBack) goOn()
  }, [isBack, goOn])
  // A call that left before the cookie was renewed is refused too: nothing is asked before it is certain.
  return (
    <Dialog
      open={there !== undefined && !isBack}
      onClose={() => undefined}
      firm
      title="Your session has ended"
      description="Sign in to go on. What you typed is still here."
    >
      <SignInForm person={person} />
    </Dialog>
  )
}

/** Everything on the page is read anew; nothing is mounted anew. */
function useGoOn() {
  const queries = useQueryClient()
  return () => {
    tell(false)
    void queries.invalidateQueries()
  }
}

function SignInForm({ person }: { person: SignedIn['user'] }) {
  const queries = useQueryClient()
  const goOn = useGoOn()
  const form = useDraft(SignIn, { email: person.email, password: '' })
  const [ways, setWays] = useState<readonly Way[]>()
  const comeBack = useMutation({
    mutationFn: async () => {
      const there = await readSession()
      return (
        there?.user.id === person.id && (await actsWhereItDid(queries.getQueryData(myOrganizations.queryKey)?.data))
      )
    },
    gcTime: 0,
    onSuccess: isSame => {
      // Nothing of what is on the screen belongs to somebody else.
      if (!isSame) return location.assign('/')
      goOn()
      notify('You are signed in again', 'What was not saved is still here: save it once more.')
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

/** A new session begins in a workspace of the server's choice. False where this page's own has closed meanwhile. */
async function actsWhereItDid(workspaces: readonly { id: string; active: boolean }[] | undefined): Promise<boolean> {
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
