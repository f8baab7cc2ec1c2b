/** The list of click flows, which decide where the visitors of a campaign go. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Waypoints } from 'lucide-react'
import type { ReactNode } from 'react'
import { z } from 'zod'
import { changeClickFlows } from '../../../people/bulk/api.ts'
import {
  type ClickFlow,
  createClickFlow,
  FLOW_STATUSES,
  FlowDraft,
  type ListedFlow,
  exportClickFlows,
  listClickFlows,
  readClickFlow,
  readClickFlowVersion,
} from '../../../traffic/click-flows/api.ts'
import { ask, call } from '../../ground/call.ts'
import { day, NONE } from '../../ground/figures/figures.ts'
import { FiguredTable, useListFigures } from '../../ground/figures/list-figures.tsx'
import type { ActType } from '../../ground/many/acts.ts'
import { SelectBox } from '../../ground/many/selection.tsx'
import { TagDots } from '../../ground/many/tag-dots.tsx'
import { Badge } from '../../ground/ui/badge.tsx'
import { nameOfCopy } from '../../../contract/copies.ts'
import { NewDialog } from '../../ground/ui/clone.tsx'
import { useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { useListAddress } from '../../ground/ui/list.tsx'
import { SaveCsv } from '../../ground/save-csv.tsx'
import { ListPage, NameAndStatus } from '../../ground/ui/list-page.tsx'
import { ActionCell, Cell, Head, Row, RowHead } from '../../ground/ui/table.tsx'
import { LedWords, useLedFigures } from '../campaigns/led-figures.tsx'
import { EMPTY, type WireGraph } from './graph.ts'
import { FlowMenu, FlowStatusBadge } from './status.tsx'

type ListedFlowRow = z.input<typeof ListedFlow>

const route = getRouteApi('/inside/click-flows')

const ACTS: readonly ActType[] = ['pause', 'archive', 'tag', 'untag', 'resume', 'replace_offer', 'clone']

export function FlowsPage() {
  const { address, query, days, sorting, controls } = useListFigures(useListAddress(route.useSearch()))
  const flows = useQuery({ ...ask(listClickFlows, { query }), placeholderData: keepPreviousData })
  const { figures, error } = useLedFigures('click_flow', days)
  return (
    <ListPage
      title="Click flows"
      words="Route visitors by country, device, time or weight."
      filters={
        <>
          <NameAndStatus address={address} statuses={FLOW_STATUSES} />
          {controls}
          <SaveCsv
            endpoint={exportClickFlows}
            picked={{ filter: { q: address.search.q, status: address.search.status, tag_id: address.search.tag } }}
            name="click-flows"
          />
        </>
      }
      query={flows}
      address={address}
      empty={{
        icon: Waypoints,
        words: 'Send visitors to landings, offers, bots or addresses by country, device, time or weight.',
      }}
      add={{
        endpoint: createClickFlow,
        words: 'New click flow',
        dialog: dialog => (
          <NewDialog what="click flow" read={readOriginal} nameOf={({ flow }) => flow.name} {...dialog}>
            {original => <NewFlowForm original={original} onClose={dialog.onClose} />}
          </NewDialog>
        ),
      }}
    >
      {rows => (
        <>
          <LedWords error={error} />
          <FiguredTable
            caption="Click flows"
            rows={rows}
            figures={figures}
            sorting={sorting}
            isWhole={address.search.cursor === undefined && flows.data?.next_cursor === null}
            heads={HEADS}
            many={{ endpoint: changeClickFlows, what: 'click flows', acts: ACTS, query }}
          >
            {(flow, cells) => <FlowLine key={flow.id} flow={flow} figures={cells} />}
          </FiguredTable>
        </>
      )}
    </ListPage>
  )
}

const HEADS = [
  <Head key="status">Status</Head>,
  <Head key="version" numeric>
    Version
  </Head>,
  <Head key="campaigns">Campaigns</Head>,
  <Head key="created">Created</Head>,
]

function FlowLine({ flow, figures }: { flow: ListedFlowRow; figures: ReactNode }) {
  return (
    <Row className={flow.status === 'archived' ? 'text-ink-faint' : ''}>
      <RowHead stay className="max-w-36 truncate sm:max-w-60" title={flow.name}>
        <SelectBox id={flow.id} name={flow.name} />
        <Link to="/click-flows/$id" params={{ id: flow.id }} className="hover:text-accent hover:underline">
          {flow.name}
        </Link>
        <TagDots ids={flow.tag_ids} />
      </RowHead>
      {figures}
      <Cell>
        <span className="flex gap-1">
          <FlowStatusBadge status={flow.status} />
          {flow.published_version !== null && !flow.is_draft_published && <Badge tone="warn">Draft changed</Badge>}
        </span>
      </Cell>
      <Cell numeric>{flow.published_version ?? NONE}</Cell>
      <Cell className="max-w-72 truncate">
        {flow.campaigns.length === 0 ? NONE : flow.campaigns.map(({ name }) => name).join(', ')}
      </Cell>
      <Cell>{day(flow.created_at)}</Cell>
      <ActionCell>
        <FlowMenu flow={flow} />
      </ActionCell>
    </Row>
  )
}

const NewFlow = z.object({ name: FlowDraft.shape.name })

/** A flow and the graph that its copy starts with: the published version, or the draft if there is none. */
type Original = { flow: z.input<typeof ClickFlow>; graph: WireGraph }

async function readOriginal(id: string): Promise<Original> {
  const flow = await call(readClickFlow, { params: { id } })
  if (flow.published_version === null || flow.is_draft_published) return { flow, graph: flow.graph }
  const version = String(flow.published_version)
  return { flow, graph: (await call(readClickFlowVersion, { params: { id, version } })).graph }
}

function wordsFor({ flow, graph }: Original): string {
  const nodes = graph.nodes.length === 1 ? 'its one node' : `its ${graph.nodes.length} nodes`
  if (flow.published_version === null) return `A draft with ${nodes}. It takes traffic once you publish it.`
  const left = flow.is_draft_published ? '' : ' Unpublished changes of its draft are not copied.'
  return `A draft with ${nodes} as published in version ${flow.published_version}.${left} It takes traffic once you publish it.`
}

function NewFlowForm({ original, onClose }: { original: Original | undefined; onClose: () => void }) {
  const navigate = useNavigate()
  const name = original === undefined ? '' : nameOfCopy(original.flow.name)
  const form = useDraft<z.input<typeof NewFlow>>(NewFlow, { name })
  return (
    <DraftForm
      form={form}
      action="Create click flow"
      endpoint={createClickFlow}
      deed={({ name }) => call(createClickFlow, { body: { name, graph: original?.graph ?? EMPTY } })}
      refresh={[listClickFlows]}
      onClose={onClose}
      // Replaces the address that opened the copy's form, so that Back does not open the form again.
      onSaved={({ id }) => void navigate({ to: '/click-flows/$id', params: { id }, replace: original !== undefined })}
    >
      <TextField
        label="Name"
        autoComplete="off"
        error={form.formState.errors.name?.message}
        {...form.register('name')}
      />
      {original !== undefined && <p className="text-ink-soft">{wordsFor(original)}</p>}
    </DraftForm>
  )
}
