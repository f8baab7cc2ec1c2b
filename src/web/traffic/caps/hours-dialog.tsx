/** The dialog that edits the open hours of an offer or a campaign: the half hours of a week, painted with the pointer or toggled one by one. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import {
  type OpenHours,
  readCampaignHours,
  readOfferHours,
  setCampaignHours,
  setOfferHours,
} from '../../../traffic/open-hours/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { SelectField } from '../../ground/ui/field.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import type { Capped } from './cap-dialog.tsx'
import { WeekGrid } from './week-grid.tsx'
import { ownZone } from '../../ground/zone-names.ts'
import { ZoneOptions } from './zones.tsx'

export type OpenHoursRow = z.input<typeof OpenHours>
type HoursDialogProps = { of: Capped; hours: OpenHoursRow | null; open: boolean; onClose: () => void }

export function HoursDialog({ of, hours, open, onClose }: HoursDialogProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      width="wide"
      title={`Open hours of ${of.name}`}
      description={
        of.object === 'offer'
          ? 'Outside these hours it gets no visitors, as if it were archived.'
          : 'Outside these hours it takes no traffic, as if it were paused.'
      }
    >
      <HoursForm of={of} hours={hours} onClose={onClose} />
    </Dialog>
  )
}

const day = (from: number, to: number) => '0'.repeat(from) + '1'.repeat(to - from) + '0'.repeat(48 - to)
const SHUT = day(0, 0)
const ALWAYS = Array.from({ length: 7 }, () => day(0, 48))
/** The usual hours of offices and call centres: Monday to Friday, 9:00 to 18:00. */
const WORKDAYS = ALWAYS.map((_, at) => (at < 5 ? day(18, 36) : SHUT))

function HoursForm({ of, hours, onClose }: Omit<HoursDialogProps, 'open'>) {
  const { role } = useActive()
  const refresh = useRefresh()
  const [week, setWeek] = useState(hours?.week ?? WORKDAYS)
  const [timezone, setTimezone] = useState(hours?.timezone ?? ownZone())
  const endpoint = of.object === 'offer' ? setOfferHours : setCampaignHours
  const isAlways = week.every(one => one === ALWAYS[0])
  const save = useMutation({
    mutationFn: () =>
      call(endpoint, { params: { id: of.id }, body: { open_hours: isAlways ? null : { timezone, week } } }),
    onSuccess: async saved => {
      await refresh(readOfferHours, readCampaignHours)
      onClose()
      notify('The hours are saved', saved.is_open ? 'It is open now.' : 'It is closed now.')
    },
  })
  return (
    <DialogForm onSubmit={() => save.mutate()}>
      <DialogBody>
        <div className="flex flex-wrap items-end gap-2">
          <SelectField
            label="Time zone"
            className="min-w-48 flex-1"
            value={timezone}
            onChange={event => setTimezone(event.target.value)}
          >
            <ZoneOptions also={timezone} />
          </SelectField>
          <Button onClick={() => setWeek(ALWAYS)}>Always</Button>
          <Button onClick={() => setWeek(WORKDAYS)}>Mon–Fri, 9–18</Button>
          <Button onClick={() => setWeek(ALWAYS.map(() => SHUT))}>Clear</Button>
        </div>
        <WeekGrid week={week} onChange={setWeek} />
        <RefusalNote refused={save.error} />
      </DialogBody>
      <SaveFoot
        action="Save hours"
        pending={save.isPending}
        reason={reasonAgainst(endpoint, role) ?? (week.every(one => one === SHUT) ? NEVER : undefined)}
        onCancel={onClose}
      />
    </DialogForm>
  )
}

const NEVER = 'It would never be open. Pause or archive it instead.'
