/** The form of the New workspace dialog. It is loaded when the dialog opens, so that the shell loads no form code. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import type { z } from 'zod'
import { createOrganization, OrganizationDraft } from '../../../people/organizations/api.ts'
import { call } from '../../ground/call.ts'
import { DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { TextField } from '../../ground/ui/field.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'

export function CreateWorkspaceForm({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const router = useRouter()
  const form = useDraft(OrganizationDraft, { name: '' })
  const create = useMutation({
    mutationFn: (body: z.input<typeof OrganizationDraft>) => call(createOrganization, { body }),
    onSuccess: async () => {
      onClose()
      await router.navigate({ to: '/' })
      await queries.resetQueries()
    },
  })
  return (
    <DialogForm onSubmit={submits(form, draft => create.mutate(draft))}>
      <DialogBody>
        <TextField
          label="Name"
          autoComplete="off"
          error={form.formState.errors.name?.message}
          {...form.register('name')}
        />
        <RefusalNote refused={create.error} />
      </DialogBody>
      <SaveFoot action="Create workspace" pending={create.isPending} onCancel={onClose} />
    </DialogForm>
  )
}
