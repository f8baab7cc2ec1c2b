/** Exports the facts of a UTC day as a file. Owners and admins only, like its route. */
import { useMutation } from '@tanstack/react-query'
import { FileDown } from 'lucide-react'
import { useState } from 'react'
import { dayOf } from '../../../contract/days.ts'
import { routeOf } from '../../../contract/endpoint.ts'
import { readExploreFacts } from '../../../reading/explore/api.ts'
import { useActive } from '../../ground/active.ts'
import { useNow } from '../../ground/figures/now.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { saveFile } from './save-csv.ts'

/** `last` is the day offered first, unless it is in the future. */
export function FactsLink({ last }: { last: string }) {
  const today = dayOf(useNow())
  const { role } = useActive()
  const [isOpen, setOpen] = useState(false)
  if (role === 'member') return null
  return (
    <>
      <Button look="quiet" size="sm" icon={FileDown} className="mt-2 -ml-2" onClick={() => setOpen(true)}>
        Export a day (Parquet)
      </Button>
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title="Export a day"
        description="A Parquet file of one UTC day with a row for each tracked click, for DuckDB, pandas and similar tools. It holds no click id, IP address or user agent."
      >
        <FactsForm last={last < today ? last : today} today={today} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  )
}

function FactsForm({ last, today, onClose }: { last: string; today: string; onClose: () => void }) {
  const [day, setDay] = useState(last)
  const saving = useMutation({
    mutationFn: () =>
      saveFile(`${routeOf(readExploreFacts).path}?day=${day}`, { method: 'GET' }, `sluice-facts-${day}.parquet`),
    onSuccess: onClose,
  })
  const reason = day === '' ? 'Fill in the day.' : undefined
  return (
    <DialogForm onSubmit={() => reason === undefined && saving.mutate()}>
      <DialogBody>
        <TextField type="date" label="Day" value={day} max={today} onChange={({ target }) => setDay(target.value)} />
        <RefusalNote refused={saving.error} />
      </DialogBody>
      <SaveFoot action="Download" pending={saving.isPending} reason={reason} onCancel={onClose} />
    </DialogForm>
  )
}
