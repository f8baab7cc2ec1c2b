/** A further workspace, of which one becomes the owner. */
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
      description="Campaigns, clicks and keys are its own. You become its owner and switch to it."
    >
      <Suspense fallback={<Waiting className="m-5 h-20" />}>
        <CreateWorkspaceForm onClose={onClose} />
      </Suspense>
    </Dialog>
  )
}
