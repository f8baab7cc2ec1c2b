/** The dialog that creates another workspace. The person who creates it becomes its owner. */
import { lazy, Suspense } from 'react'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { Waiting } from '../../ground/ui/page.tsx'

const CreateWorkspaceForm = lazy(() =>
  import('./create-workspace-form.tsx').then(module => ({ default: module.CreateWorkspaceForm })),
)

export function CreateWorkspace({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="New workspace"
      description="It has its own campaigns, clicks and keys. You become its owner and switch to it."
    >
      <Suspense fallback={<Waiting className="m-5 h-20" />}>
        <CreateWorkspaceForm onClose={onClose} />
      </Suspense>
    </Dialog>
  )
}
