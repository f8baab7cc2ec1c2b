/** Shows the secret of a webhook once. */
import { Button } from '../../ground/ui/button.tsx'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ground/ui/dialog.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { Note } from '../../ground/ui/refusal.tsx'

type SecretDialogProps = { name: string; secret: string | undefined; onClose: () => void }

export function SecretDialog({ name, secret, onClose }: SecretDialogProps) {
  return (
    <Dialog open={secret !== undefined} onClose={onClose} firm title={`The secret of ${name}`}>
      <DialogBody>
        <Note kind="warning">
          <strong>Copy it now. It is never shown again.</strong> Your program checks with it that a call comes from
          Sluice.
        </Note>
        <div className="flex flex-col gap-2">
          <TextField
            label="Secret"
            value={secret ?? ''}
            readOnly
            onFocus={event => event.target.select()}
            className="[&_input]:font-mono"
            spellCheck={false}
          />
          <CopyButton text={secret ?? ''} label="Copy secret" look="primary" size="md" />
        </div>
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Done</Button>
      </DialogFoot>
    </Dialog>
  )
}
