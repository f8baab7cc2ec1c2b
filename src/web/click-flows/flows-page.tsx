/** Click flows: what decides where a campaign's visitors go. */
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Plus, Waypoints } from 'lucide-react'
import { useState } from 'react'
import { z } from 'zod'
import { createClickFlow, FLOW_STATUSES, FlowDraft, listClickFlows, type ListedFlow } from '../../click-flows/api.ts'
import { ask, call } from '../call.ts'
import { inWords } from '../feed/rungs.ts'
import { day, NONE } from '../figures.ts'
import { reasonAgainst, useActive } from '../organizations/active.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm } from '../ui/dialog.tsx'
import { submits, useDraft } from '../ui/draft.ts'
import { SelectField, TextField } from '../ui/field.tsx'
import { Asked, EmptyState, PageHeader } from '../ui/page.tsx'
import { Pager } from '../ui/pager.tsx'
import { RefusalNote } from '../ui/refusal.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { Cell, Head, Row, RowHead, Table } from '../ui/table.tsx'
import { EMPTY } from './graph.ts'
import { FlowMenu, StatusBadge } from './status.tsx'

type FlowRow = z.input<typeof ListedFlow>

const route = getRouteApi('/inside/click-flows')

export function FlowsPage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/click-flows' })
  const { role } = useActive()
  const [creating, setCreating] = useState(false)
  const flows = useQuery({ ...ask(listClickFlows, { query: search }), placeholderData: keepPreviousData })
  const create = (
    <Button look="primary" icon={Plus} reason={reasonAgainst(createClickFlow, role)} onClick={() => setCreating(true)}>
      New click flow
    </Button>
  )
  const isWhole = search.q === undefined && search.status === undefined && search.cursor === undefined
  return (
    <>
      <PageHeader title="Click flows" words="A graph that parts visitors by who they are, and sends each on its way.">
        <SearchField
          value={search.q}
          onSeek={q => void navigate({ search: before => ({ ...before, q, cursor: undefined }) })}
        />
        <SelectField
          label="Status"
          hideLabel
          toolbar
          className="min-w-32"
          value={search.status ?? ''}
          onChange={event => {
            const status = FLOW_STATUSES.find(one => one === event.target.value)
            void navigate({ search: before => ({ ...before, status, cursor: undefined }) })
          }}
        >
          <option value="">Any status</option>
          {FLOW_STATUSES.map(status => (
            <option key={status} value={status}>
              {inWords(status)}
            </option>
          ))}
        </SelectField>
        {create}
      </PageHeader>
      <Asked query={flows}>
        {({ data, next_cursor }) =>
          data.length === 0 && isWhole ? (
            <EmptyState
              icon={Waypoints}
              title="No click flows yet"
              words="Draw who goes where: by country, device, time, by weights, to landings, offers, bots and addresses."
            >
              {create}
            </EmptyState>
          ) : (
            <>
              <FlowTable flows={data} />
              <Pager
                cursor={search.cursor}
                next={next_cursor}
                onGo={cursor => void navigate({ search: before => ({ ...before, cursor }) })}
              />
            </>
          )
        }
      </Asked>
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
          <Head>
            <span className="sr-only">Actions</span>
          </Head>
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
        {flows.length === 0 && (
          <Row>
            <Cell colSpan={6} faint>
              No click flow is found.
            </Cell>
          </Row>
        )}
      </tbody>
    </Table>
  )
}

const Named = z.object({ name: FlowDraft.shape.name })

function NewFlowForm({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const form = useDraft<z.input<typeof Named>>(Named, { name: '' })
  const create = useMutation({
    mutationFn: ({ name }: { name: string }) => call(createClickFlow, { body: { name, graph: EMPTY } }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: [listClickFlows.route] })
      await navigate({ to: '/click-flows/$id', params: { id } })
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
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" pending={create.isPending}>
          Create click flow
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}
