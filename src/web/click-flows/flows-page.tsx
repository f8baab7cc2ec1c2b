/** Click flows: what decides where a campaign's visitors go. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Waypoints } from 'lucide-react'
import { useState } from 'react'
import { z } from 'zod'
import { createClickFlow, FLOW_STATUSES, FlowDraft, listClickFlows, type ListedFlow } from '../../click-flows/api.ts'
import { ask, call } from '../call.ts'
import { inWords } from '../feed/rungs.ts'
import { day, NONE } from '../figures.ts'
import { Badge } from '../ui/badge.tsx'
import { Choice } from '../ui/choice.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { DraftForm } from '../ui/draft-form.tsx'
import { useDraft } from '../ui/draft.ts'
import { TextField } from '../ui/field.tsx'
import { AddButton, List, useListAddress } from '../ui/list.tsx'
import { EmptyState, PageHeader } from '../ui/page.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Cell, Head, Row, RowHead, Table } from '../ui/table.tsx'
import { EMPTY } from './graph.ts'
import { FlowMenu, StatusBadge } from './status.tsx'

type FlowRow = z.input<typeof ListedFlow>

const route = getRouteApi('/inside/click-flows')

export function FlowsPage() {
  const address = useListAddress(route.useSearch())
  const { search, narrow } = address
  const [creating, setCreating] = useState(false)
  const flows = useQuery({ ...ask(listClickFlows, { query: search }), placeholderData: keepPreviousData })
  const create = (
    <AddButton endpoint={createClickFlow} onClick={() => setCreating(true)}>
      New click flow
    </AddButton>
  )
  return (
    <>
      <PageHeader title="Click flows" words="A graph that parts visitors by who they are, and sends each on its way.">
        <SearchField value={search.q} onSeek={q => narrow({ q })} />
        <Choice
          label="Status"
          any="Any status"
          options={FLOW_STATUSES}
          words={inWords}
          value={search.status}
          onChange={status => narrow({ status })}
        />
        {create}
      </PageHeader>
      <List
        query={flows}
        address={address}
        what="click flows"
        empty={
          <EmptyState
            icon={Waypoints}
            title="No click flows yet"
            words="Draw who goes where: by country, device, time, by weights, to landings, offers, bots and addresses."
          >
            {create}
          </EmptyState>
        }
      >
        {rows => <FlowTable flows={rows} />}
      </List>
      <Dialog open={creating} onClose={() => setCreating(false)} title="New click flow">
        <NewFlowForm onClose={() => setCreating(false)} />
      </Dialog>
    </>
  )
}

function FlowTable({ flows }: { flows: readonly FlowRow[] }) {
  return (
    <Table caption="Click flows">
      <thead>
        <tr>
          <Head stay>Name</Head>
          <Head>Status</Head>
          <Head numeric>Version</Head>
          <Head>Campaigns</Head>
          <Head>Created</Head>
          <Head unseen>Actions</Head>
        </tr>
      </thead>
      <tbody>
        {flows.map(flow => (
          <Row key={flow.id} className={flow.status === 'archived' ? 'text-ink-faint' : ''}>
            <RowHead stay className="max-w-36 truncate sm:max-w-60" title={flow.name}>
              <Link to="/click-flows/$id" params={{ id: flow.id }} className="hover:text-accent hover:underline">
                {flow.name}
              </Link>
            </RowHead>
            <Cell>
              <span className="flex gap-1">
                <StatusBadge status={flow.status} />
                {flow.published_version !== null && !flow.is_draft_published && (
                  <Badge tone="warn">Draft changed</Badge>
                )}
              </span>
            </Cell>
            <Cell numeric>{flow.published_version ?? NONE}</Cell>
            <Cell className="max-w-72 truncate">
              {flow.campaigns.length === 0 ? NONE : flow.campaigns.map(({ name }) => name).join(', ')}
            </Cell>
            <Cell>{day(flow.created_at)}</Cell>
            <Cell className="pr-1! text-right">
              <FlowMenu flow={flow} />
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

const Named = z.object({ name: FlowDraft.shape.name })

function NewFlowForm({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const form = useDraft<z.input<typeof Named>>(Named, { name: '' })
  return (
    <DraftForm
      form={form}
      action="Create click flow"
      endpoint={createClickFlow}
      deed={({ name }) => call(createClickFlow, { body: { name, graph: EMPTY } })}
      refresh={[listClickFlows]}
      onClose={onClose}
      onSaved={({ id }) => void navigate({ to: '/click-flows/$id', params: { id } })}
    >
      <TextField
        label="Name"
        autoComplete="off"
        error={form.formState.errors.name?.message}
        {...form.register('name')}
      />
    </DraftForm>
  )
}
