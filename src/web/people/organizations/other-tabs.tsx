/**
 * A session acts in one workspace, in all tabs of a browser. When one tab switches, the other tabs would save into the wrong workspace,
 * so each of them stops and asks which workspace to use.
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
    <SwitchedElsewhere
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

function SwitchedElsewhere({ open, theirs, onStay }: SwitchedProps) {
  const queries = useQueryClient()
  const router = useRouter()
  const mine = useActive()
  const name = useOrganizations().find(({ id }) => id === theirs)?.name ?? 'another workspace'
  const goOn = useMutation({
    // The screen still shows the previous workspace.
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
    <Dialog open={open} onClose={() => undefined} title={`Another tab switched to ${name}`} firm>
      <DialogBody>
        <p className="text-ink-soft">
          This tab still shows {mine.name}. All tabs of this browser save into the same workspace, so choose one.
        </p>
        <RefusalNote refused={stay.error} />
      </DialogBody>
      <DialogFoot>
        <Button pending={stay.isPending} onClick={() => stay.mutate()}>
          {`Back to ${mine.name}`}
        </Button>
        <Button look="primary" pending={goOn.isPending} onClick={() => goOn.mutate()}>
          {`Continue in ${name}`}
        </Button>
      </DialogFoot>
    </Dialog>
  )
}
