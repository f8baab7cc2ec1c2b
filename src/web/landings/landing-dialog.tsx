/** A landing, new or changed. Saving replaces it whole, as the API does. */
import type { z } from 'zod'
import { listFunnels } from '../../funnels/api.ts'
import {
  createLanding,
  type Landing,
  LandingDraft,
  listLandings,
  previewLanding,
  replaceLanding,
} from '../../landings/api.ts'
import { call } from '../call.ts'
import { AddressPreview } from '../offers/address-preview.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { DraftForm } from '../ui/draft-form.tsx'
import { useDraft } from '../ui/draft.ts'
import { TextField } from '../ui/field.tsx'
import { notify } from '../ui/toast.tsx'

type LandingRow = z.input<typeof Landing>
type Draft = z.input<typeof LandingDraft>

type LandingDialogProps = { landing: LandingRow | undefined; open: boolean; onClose: () => void }

export function LandingDialog({ landing, open, onClose }: LandingDialogProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={landing === undefined ? 'New landing' : `Edit ${landing.name}`}
      width="wide"
    >
      <LandingForm landing={landing} onClose={onClose} />
    </Dialog>
  )
}

function LandingForm({ landing, onClose }: { landing: LandingRow | undefined; onClose: () => void }) {
  const form = useDraft<Draft>(LandingDraft, { name: landing?.name ?? '', url: landing?.url ?? '' })
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
      onSaved={({ name }) => notify(`${name} is ${landing === undefined ? 'added' : 'saved'}`)}
    >
      <TextField label="Name" autoComplete="off" error={errors.name?.message} {...form.register('name')} />
      <TextField
        label="Address"
        placeholder="https://example.com/?click_id={click_id}"
        hint="The page on your own server. Macros: {click_id}, {campaign_id}, {landing_id}, {sub1} to {sub9}, {ref_id}, {geo}, {device}."
        error={errors.url?.message}
        {...form.register('url')}
      />
      <AddressPreview
        address={form.watch('url')}
        preview={url => call(previewLanding, { body: { url } })}
        withoutClick="Without click_id={click_id} in it the script on the page does not know the click."
      />
    </DraftForm>
  )
}
