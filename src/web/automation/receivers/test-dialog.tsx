/** Sends a test message to a receiver, and shows how it went. */
import { useMutation } from '@tanstack/react-query'
import { listReceivers, testReceiver } from '../../../automation/receivers/api.ts'
import { call } from '../../ground/call.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm } from '../../ground/ui/dialog.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { type ReceiverRow, RECEIVER_WORDS } from './form-values.ts'

type TestDialogProps = { receiver: ReceiverRow; open: boolean; onClose: () => void }

export function TestDialog({ receiver, open, onClose }: TestDialogProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Test ${receiver.name}`}
      description="Sends a test message now, also in quiet hours. If it fails, it is sent again like any other message."
    >
      {open && <Test receiver={receiver} onClose={onClose} />}
    </Dialog>
  )
}

function Test({ receiver, onClose }: Omit<TestDialogProps, 'open'>) {
  const refresh = useRefresh()
  const test = useMutation({
    mutationFn: () => call(testReceiver, { params: { id: receiver.id } }),
    onSuccess: () => refresh(listReceivers),
  })
  return (
    <DialogForm onSubmit={() => test.mutate()}>
      <DialogBody>
        <p>Sent by: {RECEIVER_WORDS[receiver.type]}</p>
        <div aria-live="polite">
          {test.data !== undefined && (
            <p className="flex flex-wrap items-center gap-2">
              <Badge tone={test.data.ok ? 'good' : 'bad'}>{test.data.ok ? 'Sent' : 'Not sent'}</Badge>
              <span className="text-ink-soft">
                {test.data.error ?? 'It was accepted'}, after {test.data.took_ms} ms
              </span>
            </p>
          )}
        </div>
        <RefusalNote refused={test.error} />
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Close</Button>
        <Button type="submit" look="primary" pending={test.isPending}>
          {test.data === undefined ? 'Send test' : 'Send again'}
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}
