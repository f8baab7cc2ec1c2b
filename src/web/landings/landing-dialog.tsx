/** A landing, new or changed. Saving replaces it whole, as the API does. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
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
import { reasonAgainst, useActive } from '../organizations/active.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm } from '../ui/dialog.tsx'
import { submits, useDraft } from '../ui/draft.ts'
import { TextField } from '../ui/field.tsx'
import { RefusalNote } from '../ui/refusal.tsx'
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
  const queries = useQueryClient()
  const { role } = useActive()
  const form = useDraft<Draft>(LandingDraft, { name: landing?.name ?? '', url: landing?.url ?? '' })
  const errors = form.formState.errors
  const save = useMutation({
    mutationFn: (body: Draft) =>
      landing === undefined
        ? call(createLanding, { body })
        : call(replaceLanding, { params: { id: landing.id }, body }),
    onSuccess: async saved => {
      await Promise.all(
        [listLandings, listFunnels].map(({ route }) => queries.invalidateQueries({ queryKey: [route] })),
      )
      onClose()
      notify(landing === undefined ? `${saved.name} is added` : `${saved.name} is saved`)
    },
  })
  return (
    <DialogForm onSubmit={submits(form, draft => save.mutate(draft))}>
      <DialogBody>
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
        <RefusalNote refused={save.error} />
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          look="primary"
          pending={save.isPending}
          reason={reasonAgainst(landing === undefined ? createLanding : replaceLanding, role)}
        >
          {landing === undefined ? 'Add landing' : 'Save landing'}
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}
