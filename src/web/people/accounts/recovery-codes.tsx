/** The dialog that shows new recovery codes, the only time they are shown. */
import { Download } from 'lucide-react'
import type { ComponentProps } from 'react'
import { Button } from '../../ground/ui/button.tsx'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ground/ui/dialog.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { download } from '../../ground/download.ts'

type CodesDialogProps = ComponentProps<typeof Dialog> & {
  /** The new codes. Undefined before they are made. */
  codes: readonly string[] | undefined
  onSaved: () => void
}

/** A dialog that replaces its content with the recovery codes once there are some, and stays until the person confirms they are saved. */
export function CodesDialog({ codes, onSaved, ...before }: CodesDialogProps) {
  if (codes === undefined) return <Dialog {...before} />
  return (
    <Dialog open onClose={onSaved} firm title="Recovery codes">
      <RecoveryCodes codes={codes} onSaved={onSaved} />
    </Dialog>
  )
}

function RecoveryCodes({ codes, onSaved }: { codes: readonly string[]; onSaved: () => void }) {
  const text = codes.join('\n')
  return (
    <>
      <DialogBody>
        <Note kind="warning">
          <strong>Save them now. They are never shown again.</strong> After your password, each code works once in place
          of the app or passkey. Keep them in a password manager or on paper, not on the phone with the app.
        </Note>
        <ol
          aria-label="Recovery codes"
          className="grid grid-cols-2 gap-x-6 gap-y-1 rounded-md border border-line bg-sunken px-4 py-3 font-mono"
        >
          {codes.map(code => (
            <li key={code}>{code}</li>
          ))}
        </ol>
        <div className="flex flex-wrap gap-2">
          <CopyButton text={text} label="Copy codes" look="primary" size="md" />
          <Button
            icon={Download}
            onClick={() =>
              download('sluice-recovery-codes.txt', new Blob([`${text}\n`], { type: 'text/plain;charset=utf-8' }))
            }
          >
            Download
          </Button>
        </div>
      </DialogBody>
      <DialogFoot>
        <Button onClick={onSaved}>I have saved them</Button>
      </DialogFoot>
    </>
  )
}
