/** Takes left-out values in from text: says first what becomes of each line. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { importLeftOut, listLeftOut } from '../../../traffic/left-out/api.ts'
import { call } from '../../ground/call.ts'
import { count } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm } from '../../ground/ui/dialog.tsx'
import { Checkbox, SelectField, TextArea } from '../../ground/ui/field.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { FieldOptions, hintOf, leadsToOf, type LeftOutField, LeadsToField } from './fields.tsx'

type Imported = z.input<typeof importLeftOut.reply>
type ImportProps = { id: string; open: boolean; onClose: () => void }

export function LeftOutImport({ id, open, onClose }: ImportProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Import left-out values"
      description="Check the text first. All of it is imported, or nothing."
    >
      <ImportForm id={id} onClose={onClose} />
    </Dialog>
  )
}

function ImportForm({ id, onClose }: Omit<ImportProps, 'open'>) {
  const refresh = useRefresh()
  const [field, setField] = useState<LeftOutField>('sub1')
  const [text, setText] = useState('')
  const [isReplacing, setReplacing] = useState(false)
  const [offer, setOffer] = useState('')
  const send = (dry_run: boolean) => {
    const mode = isReplacing ? ('replace' as const) : ('add' as const)
    return call(importLeftOut, {
      params: { id },
      body: { field, text, mode, dry_run, leads_to: leadsToOf({ offer }) },
    })
  }
  const check = useMutation({ mutationFn: () => send(true) })
  const take = useMutation({
    mutationFn: () => send(false),
    onSuccess: async ({ added, removed }) => {
      await refresh(listLeftOut)
      onClose()
      notify('The values are imported', `${count(added)} new, ${count(removed)} let in again.`)
    },
  })
  /** What was checked is no longer what stands in the form. */
  const changed = () => check.reset()
  const found = check.data
  const isReady = found !== undefined && found.wrong === 0 && found.added + found.removed > 0
  return (
    <DialogForm onSubmit={() => (isReady ? take.mutate() : check.mutate())}>
      <DialogBody>
        <SelectField
          label="Field"
          value={field}
          onChange={event => {
            setField(event.target.value as LeftOutField)
            changed()
          }}
        >
          <FieldOptions />
        </SelectField>
        <TextArea
          label="Text"
          rows={8}
          className="[&_textarea]:font-mono"
          spellCheck={false}
          hint={hintOf(field)}
          value={text}
          onChange={event => {
            setText(event.target.value)
            changed()
          }}
        />
        <Checkbox
          label="Replace the list"
          words="Values of this field that the text does not have are let in again."
          checked={isReplacing}
          onChange={event => {
            setReplacing(event.target.checked)
            changed()
          }}
        />
        <LeadsToField
          value={offer}
          onChange={event => {
            setOffer(event.target.value)
            changed()
          }}
        />
        {found !== undefined && <Outcome found={found} />}
        <RefusalNote refused={check.error ?? take.error} />
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" pending={check.isPending || take.isPending}>
          {isReady ? 'Import' : 'Check'}
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}

const MOST_SHOWN = 20

function Outcome({ found: { added, same, removed, wrong, lines } }: { found: Imported }) {
  const faults = lines.filter(({ fate }) => fate === 'wrong')
  return (
    <Note kind={wrong > 0 ? 'warning' : 'plain'}>
      <strong>{`${count(added)} new, ${count(same)} the same, ${count(removed)} let in again, ${count(wrong)} wrong.`}</strong>
      {faults.length > 0 && (
        <ul className="mt-1">
          {faults.slice(0, MOST_SHOWN).map(({ line, value, error }) => (
            <li key={line} className="wrap-anywhere">
              {`Line ${line}: “${value.slice(0, 60)}” ${error}`}
            </li>
          ))}
        </ul>
      )}
    </Note>
  )
}
