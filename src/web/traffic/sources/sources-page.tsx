/** The list of traffic sources: parameters, today's clicks, and figures of their campaigns. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Signpost } from 'lucide-react'
import type { ReactNode } from 'react'
import type { z } from 'zod'
import { changeTrafficSources } from '../../../people/bulk/api.ts'
import {
  createTrafficSource,
  deleteTrafficSource,
  listSourceTemplates,
  exportTrafficSources,
  listTrafficSources,
  type TrafficSource,
  TrafficSourceDraft,
} from '../../../traffic/sources/api.ts'
import { ask, call } from '../../ground/call.ts'
import { count, day, NONE, percent, ratio } from '../../ground/figures/figures.ts'
import { readDestinationFigures, readSourceShares } from '../../../reading/figures/api.ts'
import { FiguredTable, useListFigures } from '../../ground/figures/list-figures.tsx'
import { useNow } from '../../ground/figures/now.ts'
import type { ActType } from '../../ground/many/acts.ts'
import { SelectBox } from '../../ground/many/selection.tsx'
import { TagDots } from '../../ground/many/tag-dots.tsx'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { noneIfBlank, useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { useListAddress } from '../../ground/ui/list.tsx'
import { SaveCsv } from '../../ground/save-csv.tsx'
import { ListPage } from '../../ground/ui/list-page.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { DeleteItem, RowMenu } from '../../ground/ui/row-menu.tsx'
import { SearchField } from '../../ground/ui/search-field.tsx'
import { ActionCell, Cell, Head, Row, RowHead } from '../../ground/ui/table.tsx'
import { useLedFigures } from '../campaigns/led-figures.tsx'

type SourceRow = z.input<typeof TrafficSource>

const route = getRouteApi('/inside/sources')

const ACTS: readonly ActType[] = ['tag', 'untag', 'clone']

export function SourcesPage() {
  const { address, query, days, sorting, controls } = useListFigures(useListAddress(route.useSearch()))
  const sources = useQuery({ ...ask(listTrafficSources, { query }), placeholderData: keepPreviousData })
  const { figures, error } = useLedFigures('traffic_source', days)
  const today = useClicksToday()
  return (
    <ListPage
      title="Sources"
      words="Where your traffic comes from, and which macros pass its click id, zones and cost."
      filters={
        <>
          <SearchField value={address.search.q} onSeek={q => address.narrow({ q })} />
          {controls}
          <SaveCsv
            endpoint={exportTrafficSources}
            picked={{ filter: { q: address.search.q, tag_id: address.search.tag } }}
            name="sources"
          />
        </>
      }
      query={sources}
      address={address}
      empty={{
        icon: Signpost,
        words: 'Add a source from a template, choose it in a campaign, and use the campaign link in your ads.',
      }}
      add={{
        endpoint: createTrafficSource,
        words: 'New source',
        dialog: ({ open, onClose }) => (
          <Dialog open={open} onClose={onClose} title="New source">
            <NewSourceForm onClose={onClose} />
          </Dialog>
        ),
      }}
    >
      {rows => (
        <>
          <RefusalNote refused={error} className="mb-3" />
          <p className="mb-2 text-sm text-ink-soft">
            Figures count all clicks in these days of the campaigns that use the source now.
          </p>
          <FiguredTable
            caption="Sources"
            rows={rows}
            figures={figures}
            sorting={sorting}
            isWhole={address.search.cursor === undefined && sources.data?.next_cursor === null}
            heads={HEADS}
            many={{ endpoint: changeTrafficSources, what: 'traffic sources', acts: ACTS, query }}
          >
            {(source, cells) => <SourceLine key={source.id} source={source} figures={cells} today={today(source.id)} />}
          </FiguredTable>
        </>
      )}
    </ListPage>
  )
}

type Today = {
  clicks: number | undefined
  shares: { clicks: number; with_ref_id: number; with_cost: number } | undefined
}

/** By source: the clicks of this UTC day, and which share of its newest clicks has a click id and a cost. The API counts the shares by UTC days. */
function useClicksToday(): (id: string) => Today {
  const day = new Date(useNow()).toISOString().slice(0, 10)
  const query = { type: 'traffic_source', date_from: day, date_to: day } as const
  const rows = useQuery(ask(readDestinationFigures, { query })).data?.rows
  const shares = useQuery(ask(readSourceShares, {})).data?.rows
  return id => ({
    clicks: rows?.find(({ key }) => key === id)?.clicks,
    shares: shares?.find(({ key }) => key === id),
  })
}

const HEADS = [
  <Head key="today" numeric title="Clicks of this UTC day">
    Today
  </Head>,
  <Head
    key="ref_id"
    numeric
    title="Share of today’s clicks with the source’s click id, which conversions are reported by"
  >
    With id
  </Head>,
  <Head key="cost" numeric title="Share of today’s clicks whose cost is known">
    With cost
  </Head>,
  <Head key="campaigns" numeric>
    Campaigns
  </Head>,
  <Head key="passes">Passes</Head>,
  <Head key="created">Created</Head>,
]

/** Faint if no share is expected: there were no clicks, or the source does not send the value. */
function ShareCell({ part, of, isPassed }: { part: number | undefined; of: number | undefined; isPassed: boolean }) {
  if (part === undefined || of === undefined || (part === 0 && !isPassed))
    return (
      <Cell numeric faint>
        {NONE}
      </Cell>
    )
  return (
    <Cell numeric className={isPassed && part * 2 < of ? 'text-warn' : ''}>
      {percent(ratio(part, of))}
    </Cell>
  )
}

type SourceLineProps = { source: SourceRow; figures: ReactNode; today: Today }

function SourceLine({ source, figures, today: { clicks, shares } }: SourceLineProps) {
  const { id, name, campaigns, parameters } = source
  return (
    <Row>
      <RowHead stay className="max-w-36 truncate sm:max-w-60" title={name}>
        <SelectBox id={source.id} name={name} />
        <Link to="/sources/$id" params={{ id }} className="text-accent hover:underline">
          {name}
        </Link>
        <TagDots ids={source.tag_ids} />
      </RowHead>
      {figures}
      <Cell numeric faint={!clicks}>
        {clicks ? count(clicks) : NONE}
      </Cell>
      <ShareCell part={shares?.with_ref_id} of={shares?.clicks} isPassed={fills(parameters, 'ref_id')} />
      <ShareCell part={shares?.with_cost} of={shares?.clicks} isPassed={fills(parameters, 'cost')} />
      <Cell numeric faint={campaigns === 0}>
        {campaigns === 0 ? NONE : count(campaigns)}
      </Cell>
      <Cell className="max-w-72 truncate">{passedFields(parameters)}</Cell>
      <Cell>{day(source.created_at)}</Cell>
      <ActionCell>
        <RowMenu name={name}>
          <DeleteItem
            name={name}
            what="source"
            endpoint={deleteTrafficSource}
            refresh={[listTrafficSources]}
            before={campaigns === 0 ? undefined : 'Campaigns use it.'}
            words="This cannot be undone. Its postback rules stay under Postbacks."
            deed={() => call(deleteTrafficSource, { params: { id } })}
          />
        </RowMenu>
      </ActionCell>
    </Row>
  )
}

const fills = (parameters: SourceRow['parameters'], field: string) => parameters.some(one => one.field === field)

function passedFields(parameters: SourceRow['parameters']): string {
  const subs = parameters.flatMap(({ field, label }) => (field.startsWith('sub') ? [label ?? field] : []))
  return [
    fills(parameters, 'ref_id') ? 'Click id' : 'No click id',
    ...(fills(parameters, 'cost') ? ['cost'] : []),
    ...subs,
  ].join(', ')
}

function NewSourceForm({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const templates = useQuery(ask(listSourceTemplates, {})).data?.data ?? []
  const form = useDraft<z.input<typeof TrafficSourceDraft>>(TrafficSourceDraft, { name: '', template: null })
  const chosen = templates.find(({ slug }) => slug === form.watch('template'))
  const pick = (slug: string) => {
    const name = templates.find(one => one.slug === slug)?.name
    // A typed name is not overwritten.
    if (name !== undefined && (form.getValues('name') === '' || form.getValues('name') === chosen?.name))
      form.setValue('name', name, { shouldDirty: true })
  }
  return (
    <DraftForm
      form={form}
      action="Add source"
      endpoint={createTrafficSource}
      deed={body => call(createTrafficSource, { body })}
      refresh={[listTrafficSources]}
      onClose={onClose}
      onSaved={({ id }) => void navigate({ to: '/sources/$id', params: { id } })}
    >
      <SelectField
        label="Template"
        optional
        hint={
          chosen === undefined
            ? 'Fills in the source’s parameters. You can change them afterwards.'
            : `${chosen.is_confirmed ? 'From the source’s documentation' : 'From another tracker: compare it with your account at the source'}. Read ${chosen.checked_on}, ${chosen.evidence}`
        }
        {...form.register('template', { ...noneIfBlank, onChange: event => pick(event.target.value) })}
      >
        <option value="">None (enter parameters yourself)</option>
        {templates.map(({ slug, name }) => (
          <option key={slug} value={slug}>
            {name}
          </option>
        ))}
      </SelectField>
      <TextField
        label="Name"
        autoComplete="off"
        error={form.formState.errors.name?.message}
        {...form.register('name')}
      />
    </DraftForm>
  )
}
