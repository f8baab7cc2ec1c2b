/** The dialog of a saved view: its name, whether it is shared, and whether it is the start page. */
import { createExploreView, listExploreViews, updateExploreView } from '../../../reading/explore-views/api.ts'
import { onlyFor, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { Checkbox, TextField } from '../../ground/ui/field.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import type { Kept, View } from './kept.ts'

const ViewDraft = createExploreView.body.pick({ name: true, is_shared: true, is_start_page: true })

type ViewDialogProps = {
  /** The view to change; undefined: the screen is saved as a new one. */
  view: View | undefined
  kept: Kept
  open: boolean
  onClose: () => void
  onSaved: (view: View) => void
}

export function ViewDialog(props: ViewDialogProps) {
  const { view, open, onClose } = props
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={view === undefined ? 'Save as a view' : view.name}
      {...(view === undefined && {
        description:
          'Saves the levels, filters, columns and days of this page. Days such as Last 7 days stay relative to today.',
      })}
    >
      <ViewForm key={view?.id} {...props} />
    </Dialog>
  )
}

function ViewForm({ view, kept, onClose, onSaved }: ViewDialogProps) {
  const { role } = useActive()
  const form = useDraft(ViewDraft, {
    name: view?.name ?? '',
    is_shared: view?.is_shared ?? false,
    is_start_page: view?.is_start_page ?? false,
  })
  const isShared = form.watch('is_shared') === true
  const isTaken = view !== undefined && view.is_shared && !view.is_own
  const reason =
    role === 'member'
      ? onlyFor('admin', role)
      : isTaken
        ? 'Only the person who saved it can make it private.'
        : undefined
  const errors = form.formState.errors
  return (
    <DraftForm
      form={form}
      action="Save view"
      endpoint={view === undefined ? createExploreView : updateExploreView}
      deed={typed =>
        view === undefined
          ? call(createExploreView, { body: { ...typed, ...kept } })
          : call(updateExploreView, { params: { id: view.id }, body: typed })
      }
      refresh={[listExploreViews]}
      onClose={onClose}
      onSaved={saved => {
        notify(`${saved.name} is saved`)
        onSaved(saved)
      }}
    >
      <TextField label="Name" autoComplete="off" error={errors.name?.message} {...form.register('name')} />
      <Checkbox
        label="Share with the workspace"
        words="Everyone in it sees the view; owners and admins can change it."
        reason={reason}
        {...form.register('is_shared')}
      />
      <Checkbox
        label="Open Report with it"
        words={isShared ? 'For everyone without a start page of their own.' : 'For you alone.'}
        {...form.register('is_start_page')}
      />
    </DraftForm>
  )
}
