/** One traffic source: its name, parameters and cost settings. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { z } from 'zod'
import {
  setTrafficSourceTags,
  setTrafficSourceNote,
  readTrafficSource,
  listTrafficSources,
  COST_UNITS,
  type TrafficSource,
  type TrafficSourceChanges,
  updateTrafficSource,
} from '../../../traffic/sources/api.ts'
import { LabelFields } from '../../ground/many/label-fields.tsx'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { count } from '../../ground/figures/figures.ts'
import { ObjectHistory } from '../../ground/history/object-history.tsx'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { Loaded, PageHeader, Setting } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { useChanges } from '../../ground/ui/unsaved.ts'
import { ParametersField } from './parameters-field.tsx'
import { TemplateNote } from './template-note.tsx'

type SourceRow = z.input<typeof TrafficSource>
type Changes = z.input<typeof TrafficSourceChanges>

const route = getRouteApi('/inside/sources/$id')

export function SourcePage() {
  const { id } = route.useParams()
  const source = useQuery(ask(readTrafficSource, { params: { id } }))
  return (
    <>
      <BackLink to="/sources">Sources</BackLink>
      <Loaded query={source} title="Source">
        {found => <SourceSettings key={found.updated_at} source={found} />}
      </Loaded>
      {source.data !== undefined && (
        <Setting title="Tags and note" words="For lists, reports and your team. Part of no address.">
          <LabelFields
            of={source.data}
            setTags={setTrafficSourceTags}
            setNote={setTrafficSourceNote}
            shownIn={[readTrafficSource, listTrafficSources]}
          />
        </Setting>
      )}
      <ObjectHistory kind="traffic_source" id={id} />
    </>
  )
}

const campaignsInWords = (campaigns: number) =>
  campaigns === 0
    ? 'No campaign uses it yet.'
    : campaigns === 1
      ? 'One campaign uses it.'
      : `${count(campaigns)} campaigns use it.`

const UNITS = { cpc: 'One click', cpm: 'A thousand clicks' }

function SourceSettings({ source }: { source: SourceRow }) {
  const refresh = useRefresh()
  const { role } = useActive()
  const { changes, now, set, clear } = useChanges<SourceRow, Changes>(source, 'the source')
  const save = useMutation({
    mutationFn: () => call(updateTrafficSource, { params: { id: source.id }, body: changes }),
    onSuccess: async () => {
      await refresh(readTrafficSource, listTrafficSources)
      clear()
      notify('The source is saved', 'Applies from the next click of its campaigns.')
    },
  })
  const passesCost = now.parameters.some(({ field }) => field === 'cost')
  return (
    <>
      <PageHeader title={source.name} words={campaignsInWords(source.campaigns)}>
        <Link to="/postbacks" search={{ source: source.id }} className={buttonLook('plain')}>
          Postbacks
        </Link>
      </PageHeader>
      <form
        noValidate
        onSubmit={event => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <Setting title="Name" words="Shown in campaigns and postback rules.">
          <TextField label="Name" value={now.name} onChange={event => set({ name: event.target.value })} />
        </Setting>
        <Setting
          wide
          title="Parameters"
          words="The parameter and the source’s macro for each field. Blank macro = the source appends the parameter itself."
        >
          <TemplateNote source={now} onTake={set} />
          <ParametersField parameters={now.parameters} onChange={parameters => set({ parameters })} />
        </Setting>
        <Setting
          title="Cost"
          words={passesCost ? 'Unit and currency of the cost in the link.' : 'This source sends no cost in the link.'}
        >
          <div className="grid gap-4 sm:grid-cols-2">
            <SelectField
              label="Cost is per"
              value={now.cost_unit ?? ''}
              onChange={event => set({ cost_unit: COST_UNITS.find(unit => unit === event.target.value) ?? null })}
            >
              <option value="">Not sent</option>
              {COST_UNITS.map(unit => (
                <option key={unit} value={unit}>
                  {UNITS[unit]}
                </option>
              ))}
            </SelectField>
            <TextField
              label="Currency"
              value={now.cost_currency}
              onChange={event => set({ cost_currency: event.target.value })}
            />
          </div>
        </Setting>
        <div className="flex flex-wrap items-center justify-end gap-3 border-t border-line py-4">
          <RefusalNote refused={save.error} />
          <Button
            type="submit"
            look="primary"
            pending={save.isPending}
            reason={reasonAgainst(updateTrafficSource, role)}
          >
            Save source
          </Button>
        </div>
      </form>
    </>
  )
}
