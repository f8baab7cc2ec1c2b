/** Leaves values of a campaign out, typed one a line. */
import type { DraftFields } from '../../ground/ui/draft.ts'
import { leaveOut, listLeftOut } from '../../../traffic/left-out/api.ts'
import { call } from '../../ground/call.ts'
import { count } from '../../ground/figures/figures.ts'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { useRequestDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { SelectField, TextArea } from '../../ground/ui/field.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import {
  DetailFields,
  detailsOf,
  type DetailValues,
  FieldOptions,
  hintOf,
  type LeftOutField,
  NO_DETAILS,
} from './fields.tsx'

type AddProps = { id: string; open: boolean; onClose: () => void }
type Values = DetailValues & { field: LeftOutField; text: string }

export function AddDialog({ id, open, onClose }: AddProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Leave values out"
      description="Applies from the next click. Such clicks are counted, because they are paid for."
    >
      <AddForm id={id} onClose={onClose} />
    </Dialog>
  )
}

const valuesOf = (text: string): string[] => text.split(/\r?\n/).filter(line => line.trim() !== '')

function AddForm({ id, onClose }: Omit<AddProps, 'open'>) {
  const form = useRequestDraft({
    schema: leaveOut.body,
    values: { field: 'sub1', text: '', ...NO_DETAILS } as Values,
    requestOf: ({ field, text, ...details }) => ({ field, values: valuesOf(text), ...detailsOf(details) }),
    fieldOf: path => (path[0] === 'values' ? 'text' : String(path[0])),
  })
  return (
    <DraftForm
      form={form}
      action="Leave out"
      endpoint={leaveOut}
      deed={body => call(leaveOut, { params: { id }, body })}
      refresh={[listLeftOut]}
      onClose={onClose}
      onSaved={({ added, same }) =>
        notify(
          added === 1 ? 'One value is left out' : `${count(added)} values are left out`,
          same === 0 ? undefined : `${count(same)} were left out already.`,
        )
      }
    >
      <SelectField label="Field" {...form.register('field')}>
        <FieldOptions />
      </SelectField>
      <TextArea
        label="Values"
        rows={5}
        className="[&_textarea]:font-mono"
        spellCheck={false}
        hint={hintOf(form.watch('field'))}
        error={form.formState.errors.text && 'Enter 1 to 1,000 values; import more as text.'}
        {...form.register('text')}
      />
      <DetailFields form={form as unknown as DraftFields<DetailValues>} />
    </DraftForm>
  )
}
