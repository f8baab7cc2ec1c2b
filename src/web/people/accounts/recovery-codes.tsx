/** Recovery codes, the once that they are shown. */
import { Download } from 'lucide-react'
import type { ComponentProps } from 'react'
import { Button } from '../../ground/ui/button.tsx'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ground/ui/dialog.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { download } from '../../ground/download.ts'

type CodesDialogProps = ComponentProps<typeof Dialog> & {
  /** Those that were made, if any were. */
  codes: readonly string[] | undefined
  onKept: () => void
}

/** A dialog that shows recovery codes as soon as there are some, in the same place, and stays until they are said to be kept. */
export function CodesDialog({ codes, onKept, ...before }: CodesDialogProps) {
  if (codes === undefined) return <Dialog {...before} />
  return (
    <Dialog open onClose={onKept} firm title="Recovery codes">
      <RecoveryCodes codes={codes} onKept={onKept} />
    </Dialog>
  )
}

function RecoveryCodes({ codes, onKept }: { codes: readonly string[]; onKept: () => void }) {
  const text = codes.join('\n')
  return (
    <>
      <DialogBody>
        <Note kind="warning">
          <strong>Keep them now. They are never shown again.</strong> Each lets you in once in place of the app or
          passkey, after your password. A password manager or a sheet of paper will do; the phone they are to replace
          will not.
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
        <Button onClick={onKept}>I have kept them</Button>
      </DialogFoot>
    </>
  )
}
