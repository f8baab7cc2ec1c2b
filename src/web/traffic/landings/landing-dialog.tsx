/** The dialog that creates or edits a landing. Saving replaces all of its fields, as the API does. */
import type { z } from 'zod'
import { VISIT_MACROS } from '../../../contract/address.ts'
import { listFunnels } from '../../../traffic/funnels/api.ts'
import {
  setLandingTags,
  setLandingNote,
  createLanding,
  type Landing,
  LandingDraft,
  listLandings,
  previewLanding,
  readLanding,
  replaceLanding,
} from '../../../traffic/landings/api.ts'
import { LabelFields } from '../../ground/many/label-fields.tsx'
import { call } from '../../ground/call.ts'
import { nameOfCopy } from '../../../contract/copies.ts'
import { NewDialog } from '../../ground/ui/clone.tsx'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { AddressPreview } from '../offers/address-preview.tsx'

type LandingRow = z.input<typeof Landing>
type Draft = z.input<typeof LandingDraft>

type LandingDialogProps = {
  landing: LandingRow | undefined
  /** The id of the landing to copy. */
  clone?: string | undefined
  open: boolean
  onClose: () => void
  onSaved?: (landing: LandingRow) => void
}

export function LandingDialog({ landing, clone, open, onClose, onSaved }: LandingDialogProps) {
  if (landing === undefined)
    return (
      <NewDialog
        what="landing"
        width="wide"
        clone={clone}
        read={id => call(readLanding, { params: { id } })}
        nameOf={({ name }) => name}
        open={open}
        onClose={onClose}
      >
        {original => <LandingForm landing={undefined} original={original} onClose={onClose} onSaved={onSaved} />}
      </NewDialog>
    )
  return (
    <Dialog open={open} onClose={onClose} title={`Edit ${landing.name}`} width="wide">
      <LandingForm landing={landing} onClose={onClose} onSaved={onSaved} />
    </Dialog>
  )
}

type FormProps = {
  landing: LandingRow | undefined
  original?: LandingRow | undefined
  onClose: () => void
  onSaved: LandingDialogProps['onSaved'] | undefined
}

function LandingForm({ landing, original, onClose, onSaved }: FormProps) {
  const form = useDraft<Draft>(LandingDraft, {
    name: landing?.name ?? (original === undefined ? '' : nameOfCopy(original.name)),
    url: (landing ?? original)?.url ?? '',
  })
  const errors = form.formState.errors
  return (
    <DraftForm
      form={form}
      action={landing === undefined ? 'Add landing' : 'Save landing'}
      endpoint={landing === undefined ? createLanding : replaceLanding}
      deed={body =>
        landing === undefined
          ? call(createLanding, { body })
          : call(replaceLanding, { params: { id: landing.id }, body })
      }
      refresh={[listLandings, listFunnels]}
      onClose={onClose}
      onSaved={saved => {
        notify(`${saved.name} is ${landing === undefined ? 'added' : 'saved'}`)
        onSaved?.(saved)
      }}
    >
      <TextField label="Name" autoComplete="off" error={errors.name?.message} {...form.register('name')} />
      <TextField
        label="Address"
        placeholder="https://example.com/?click_id={click_id}"
        hint={`The page on your own server. Macros: ${VISIT_MACROS}.`}
        error={errors.url?.message}
        {...form.register('url')}
      />
      <AddressPreview
        address={form.watch('url')}
        preview={url => call(previewLanding, { body: { url } })}
        withoutClick="Without click_id={click_id} the script on the page does not know the click."
      />
      {landing !== undefined && (
        <section aria-label="Tags and note" className="border-t border-line pt-3">
          <LabelFields of={landing} setTags={setLandingTags} setNote={setLandingNote} shownIn={[listLandings]} />
        </section>
      )}
    </DraftForm>
  )
}
