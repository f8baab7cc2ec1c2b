/** Settings, events: the workspace's names for event types, and the types that are its goal. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
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
import { chosenIn, submits, useRequestDraft } from '../../ground/ui/draft.ts'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { Loaded, PageHeader, Setting } from '../../ground/ui/page.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { useUnsaved } from '../../ground/ui/unsaved.ts'

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
      <Loaded query={settings}>{found => <SettingsForm key={`${found.updated_at}`} settings={found} />}</Loaded>
    </>
  )
}

function SettingsForm({ settings }: { settings: Settings }) {
  const queries = useQueryClient()
  const { role } = useActive()
  const reason = reasonAgainst(replaceEventSettings, role)
  const form = useRequestDraft({
    schema: EventSettingsDraft,
    values: valuesOf(settings),
    requestOf: ({ names, goal }): Draft => ({ names: withoutBlanks(names), goal }),
    fieldOf: ([field, type]) => (field === 'names' ? `names.${String(type)}` : 'goal'),
  })
  useUnsaved(form.formState.isDirty, 'the events')
  const goal = form.watch('goal')
  const setGoal = (types: Draft['goal']) => form.setValue('goal', types, chosenIn(form))
  const { errors } = form.formState
  const save = useMutation({
    mutationFn: (body: Draft) => call(replaceEventSettings, { body }),
    onSuccess: async saved => {
      queries.setQueryData(eventSettings.queryKey, saved)
      await queries.invalidateQueries()
      notify('The events are saved')
    },
  })
  return (
    <form noValidate onSubmit={submits(form, body => save.mutate(body))}>
      <Setting
        title="Goal"
        words="The conversions that CR and CPA count, for campaigns without their own goal. Applies to past days too."
      >
        <fieldset disabled={reason !== undefined} className="flex flex-col gap-4">
          <SelectField
            label="Conversions that count"
            className="max-w-xs"
            value={goal === null ? 'offers' : 'chosen'}
            onChange={event => setGoal(event.target.value === 'offers' ? null : [])}
          >
            <option value="offers">What each campaign’s offers pay for</option>
            <option value="chosen">The same types in every campaign…</option>
          </SelectField>
          {goal !== null && (
            <GoalTypes
              legend="Goal conversions"
              types={goal}
              error={goal.length === 0 ? 'Tick at least one.' : undefined}
              onChange={setGoal}
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
              error={errors.names?.[type]?.message}
              {...form.register(`names.${type}`)}
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

type Names = Record<(typeof NAMED_TYPES)[number], string>

const valuesOf = ({ names, goal }: Settings) => ({
  names: Object.fromEntries(NAMED_TYPES.map(type => [type, names[type] ?? ''])) as Names,
  goal,
})

const withoutBlanks = (names: Names): Draft['names'] =>
  Object.fromEntries(Object.entries(names).filter(([, name]) => name.trim() !== ''))
