/**
 * A session acts in one workspace, in all tabs of a browser. A tab that still shows another one would save into the wrong place, so
 * it stops and asks as soon as another tab has switched.
 */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { activateOrganization } from '../../../people/organizations/api.ts'
import { useActive, useOrganizations } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ground/ui/dialog.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'

const CHANNEL = 'sluice workspace'

export function OtherTabs() {
  const mine = useActive()
  const [theirs, setTheirs] = useState<string>()
  const channel = useRef<BroadcastChannel>(undefined)
  useEffect(() => {
    const opened = new BroadcastChannel(CHANNEL)
    channel.current = opened
    opened.onmessage = ({ data }: MessageEvent<unknown>) => setTheirs(typeof data === 'string' ? data : undefined)
    opened.postMessage(mine.id)
    return () => opened.close()
  }, [mine.id])
  if (theirs === undefined) return null
  return (
    <Switched
      open={theirs !== mine.id}
      theirs={theirs}
      onStay={() => {
        setTheirs(undefined)
        channel.current?.postMessage(mine.id)
      }}
    />
  )
}

type SwitchedProps = { open: boolean; theirs: string; onStay: () => void }

function Switched({ open, theirs, onStay }: SwitchedProps) {
  const queries = useQueryClient()
  const router = useRouter()
  const mine = useActive()
  const name = useOrganizations().find(({ id }) => id === theirs)?.name ?? 'another workspace'
  const goOn = useMutation({
    // What is on the screen belongs to the workspace that was left.
    mutationFn: async () => {
      await router.navigate({ to: '/' })
      await queries.resetQueries()
    },
  })
  const stay = useMutation({
    mutationFn: () => call(activateOrganization, { params: { id: mine.id } }),
    onSuccess: onStay,
  })
  return (
    <Dialog open={open} onClose={() => undefined} title={`Another tab went to ${name}`} firm>
      <DialogBody>
        <p className="text-ink-soft">
          This tab shows {mine.name}. What you save is saved in the workspace this browser acts in, so choose one.
        </p>
        <RefusalNote refused={stay.error} />
      </DialogBody>
      <DialogFoot>
        <Button pending={stay.isPending} onClick={() => stay.mutate()}>
          {`Back to ${mine.name}`}
        </Button>
        <Button look="primary" pending={goOn.isPending} onClick={() => goOn.mutate()}>
          {`Go on in ${name}`}
        </Button>
      </DialogFoot>
    </Dialog>
  )
}
