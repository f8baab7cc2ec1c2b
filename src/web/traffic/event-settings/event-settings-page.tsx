/** Settings, events: the workspace's names for event types, and the types that are its goal. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { EVENT_TYPE_LABELS } from '../../../contract/event-types.ts'
import {
  EventSettingsDraft,
  type EventSettings,
  NAMED_TYPES,
  replaceEventSettings,
} from '../../../traffic/event-settings/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { moment } from '../../ground/figures/figures.ts'
import { GoalTypes } from '../../ground/figures/goal-types.tsx'
import { eventSettings } from '../../ground/figures/goals.ts'
import { Button } from '../../ground/ui/button.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { Asked, PageHeader, Setting } from '../../ground/ui/page.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { isChanged, useUnsaved } from '../../ground/ui/unsaved.ts'

type Settings = z.input<typeof EventSettings>
type Draft = z.input<typeof EventSettingsDraft>

export function EventSettingsPage() {
  const settings = useQuery(eventSettings)
  return (
    <>
      <PageHeader
        title="Events"
        words="Names and goal for your team’s screens. Postbacks and the API keep the original types."
      />
      <Asked query={settings}>{found => <SettingsForm key={`${found.updated_at}`} settings={found} />}</Asked>
    </>
  )
}

function SettingsForm({ settings }: { settings: Settings }) {
  const queries = useQueryClient()
  const { role } = useActive()
  const reason = reasonAgainst(replaceEventSettings, role)
  const before: Draft = { names: settings.names, goal: settings.goal }
  const [draft, setDraft] = useState(before)
  const names = withoutBlanks(draft.names)
  const isDirty = isChanged([inOrder(names), draft.goal], [inOrder(before.names), before.goal])
  useUnsaved(isDirty, 'the events')
  const checked = EventSettingsDraft.safeParse({ names, goal: draft.goal })
  const faultAt = (...path: string[]) => checked.error?.issues.find(issue => issue.path.join() === path.join())?.message
  const save = useMutation({
    mutationFn: () => call(replaceEventSettings, { body: { names, goal: draft.goal } }),
    onSuccess: async saved => {
      queries.setQueryData(eventSettings.queryKey, saved)
      await queries.invalidateQueries()
      notify('The events are saved')
    },
  })
  return (
    <form
      noValidate
      onSubmit={event => {
        event.preventDefault()
        if (checked.success && reason === undefined) save.mutate()
      }}
    >
      <Setting
        title="Goal"
        words="The conversions that CR and CPA count, for campaigns without their own goal. Applies to past days too."
      >
        <fieldset disabled={reason !== undefined} className="flex flex-col gap-4">
          <SelectField
            label="Conversions that count"
            className="max-w-xs"
            value={draft.goal === null ? 'offers' : 'chosen'}
            onChange={event => setDraft({ ...draft, goal: event.target.value === 'offers' ? null : [] })}
          >
            <option value="offers">What each campaign’s offers pay for</option>
            <option value="chosen">The same types in every campaign…</option>
          </SelectField>
          {draft.goal !== null && (
            <GoalTypes
              legend="Goal conversions"
              types={draft.goal}
              error={draft.goal.length === 0 ? 'Tick at least one.' : undefined}
              onChange={goal => setDraft({ ...draft, goal })}
            />
          )}
        </fieldset>
      </Setting>
      <Setting title="Names" words="Shown wherever the event appears. Blank = the original name.">
        <fieldset disabled={reason !== undefined} className="grid max-w-2xl gap-3 sm:grid-cols-2">
          {NAMED_TYPES.map(type => (
            <TextField
              key={type}
              label={EVENT_TYPE_LABELS[type]}
              placeholder={EVENT_TYPE_LABELS[type]}
              autoComplete="off"
              maxLength={40}
              value={draft.names[type] ?? ''}
              error={faultAt('names', type)}
              onChange={event => setDraft({ ...draft, names: { ...draft.names, [type]: event.target.value } })}
            />
          ))}
        </fieldset>
      </Setting>
      <div className="flex flex-col items-start gap-3">
        <RefusalNote refused={save.error} />
        <Button type="submit" look="primary" pending={save.isPending} reason={reason}>
          Save events
        </Button>
        {settings.updated_at !== null && (
          <p className="text-sm text-ink-faint">
            {`Last changed ${moment(settings.updated_at)}${settings.updated_by === null ? '' : ` by ${settings.updated_by}`}.`}
          </p>
        )}
      </div>
    </form>
  )
}

const withoutBlanks = (names: Draft['names']): Draft['names'] =>
  Object.fromEntries(Object.entries(names).filter(([, name]) => name.trim() !== ''))

const inOrder = (names: Draft['names']) => NAMED_TYPES.map(type => names[type])
