/** Recovery codes, the once that they are shown. */
import { Download } from 'lucide-react'
import { Button } from '../../ground/ui/button.tsx'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { DialogBody, DialogFoot } from '../../ground/ui/dialog.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { download } from '../../reading/reports/csv.ts'

export function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
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
        <Button onClick={onClose}>I have kept them</Button>
      </DialogFoot>
    </>
  )
}
