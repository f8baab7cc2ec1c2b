/** One click flow: the editor of its draft, and the buttons to test and publish it. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { clsx } from 'clsx'
import { History, Plus, Route, Upload } from 'lucide-react'
import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import {
  setClickFlowTags,
  setClickFlowNote,
  readClickFlow,
  listClickFlows,
  NODE_TYPES,
  publishClickFlow,
  replaceClickFlow,
} from '../../../traffic/click-flows/api.ts'
import { LabelFields } from '../../ground/many/label-fields.tsx'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { ObjectHistory } from '../../ground/history/object-history.tsx'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { Menu, MenuItem } from '../../ground/ui/menu.tsx'
import { Loaded, PageHeader, Setting, Waiting } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notifyDone } from '../../ground/ui/toast.tsx'
import { isChanged, useUnsaved } from '../../ground/ui/unsaved.ts'
import { useChoices } from './choices.ts'
import { type FlowRow, openEnds, TYPE_WORDS, type WireGraph, withNode, withStep } from './graph.ts'
import { type NodeNames, nodeNamesOf } from './names.ts'
import { NodeForm } from './node-form.tsx'
import { NodeList } from './node-list.tsx'
import { RulesTable } from './rules-table.tsx'
import { FlowMenu, flowReach, FlowStatusBadge, SHOW_FLOWS } from './status.tsx'
import { TryDialog } from './try-dialog.tsx'
import { VersionsDialog } from './versions-dialog.tsx'

const Canvas = lazy(() => import('./canvas.tsx').then(({ Canvas }) => ({ default: Canvas })))

const route = getRouteApi('/inside/click-flows/$id')

export function FlowPage() {
  const { id } = route.useParams()
  const flow = useQuery(ask(readClickFlow, { params: { id } }))
  return (
    <>
      <BackLink to="/click-flows">Click flows</BackLink>
      <Loaded query={flow} title="Click flow">
        {found => <FlowEditor key={found.id} flow={found} />}
      </Loaded>
      {flow.data !== undefined && (
        <Setting title="Tags and note" words="For lists, reports and your team. Part of no address.">
          <LabelFields
            of={flow.data}
            setTags={setClickFlowTags}
            setNote={setClickFlowNote}
            shownIn={[readClickFlow, listClickFlows]}
          />
        </Setting>
      )}
      <ObjectHistory kind="click_flow" id={id} />
    </>
  )
}

/** The draft on screen, and how it is saved. */
function useFlowDraft(flow: FlowRow) {
  const queries = useQueryClient()
  const refresh = useRefresh()
  const [before, setBefore] = useState(flow)
  const [name, setName] = useState(flow.name)
  const [graph, setGraph] = useState<WireGraph>(flow.graph)
  const isDirty = name !== before.name || isChanged(graph, before.graph)
  const startFrom = (from: FlowRow) => {
    setBefore(from)
    setName(from.name)
    setGraph(from.graph)
  }
  // A change that someone else saved replaces the draft on screen if that has no unsaved changes.
  if (!isDirty && (flow.draft_tag !== before.draft_tag || flow.name !== before.name)) startFrom(flow)
  useUnsaved(isDirty, 'the draft')
  const showSaved = async (saved: FlowRow) => {
    queries.setQueryData(ask(readClickFlow, { params: { id: flow.id } }).queryKey, saved)
    startFrom(saved)
    await refresh(...SHOW_FLOWS)
  }
  const save = useMutation({
    mutationFn: () =>
      call(replaceClickFlow, { params: { id: flow.id }, body: { name, graph, draft_tag: before.draft_tag } }),
    onSuccess: async saved => {
      await showSaved(saved)
      notifyDone(
        'The draft is saved',
        saved,
        saved.problems.length === 0 ? 'It can be published.' : `Solve its problems before you publish it.`,
      )
    },
  })
  return { name, setName, graph, setGraph, isDirty, showSaved, save }
}

/** The first view: the table for an empty flow, the list on a phone, whose screen is too small for the canvas. */
function viewFor({ nodes }: WireGraph): string {
  if (nodes.length <= 1) return 'table'
  return matchMedia('(width < 40rem)').matches ? 'list' : 'canvas'
}

function FlowEditor({ flow }: { flow: FlowRow }) {
  const { role } = useActive()
  const choices = useChoices()
  const { name, setName, graph, setGraph, isDirty, showSaved, save } = useFlowDraft(flow)
  const [chosen, setChosen] = useState<string>()
  const [added, setAdded] = useState<string>()
  const names = useMemo(() => nodeNamesOf(graph, choices), [graph, choices])
  const [view, setView] = useState(() => viewFor(flow.graph))
  const node = graph.nodes.find(({ id }) => id === chosen)
  const faulty = useMemo(() => new Set(flow.problems.flatMap(({ node_id }) => node_id ?? [])), [flow.problems])
  const onAdded = useCallback(
    (grown: WireGraph, id: string) => {
      setGraph(grown)
      setChosen(id)
      setAdded(id)
    },
    [setGraph],
  )
  const shared = { graph, choices, names, chosen, faulty, onChoose: setChosen }
  return (
    <>
      <PageHeader
        title={flow.name}
        words={
          <span className="flex flex-wrap items-center gap-2">
            <FlowStatusBadge status={flow.status} />
            {flow.published_version === null ? 'Never published.' : `Version ${flow.published_version} is published.`}
            {flow.published_version !== null && !flow.is_draft_published && <Badge tone="warn">Draft changed</Badge>}
            <span>{flowReach(flow)}</span>
          </span>
        }
      >
        {flow.published_version !== null && (
          <Link to="/click-flows/$id/tests" params={{ id: flow.id }} className={buttonLook('plain')}>
            Split tests
          </Link>
        )}
        <FlowActions flow={flow} isDirty={isDirty} onSaved={showSaved} />
        <Button
          pending={save.isPending}
          reason={reasonAgainst(replaceClickFlow, role) ?? (isDirty ? undefined : 'Everything is saved.')}
          onClick={() => save.mutate()}
        >
          Save draft
        </Button>
        <FlowMenu flow={flow} isOnItsPage />
      </PageHeader>
      <RefusalNote refused={save.error} className="mb-4" />
      <Problems flow={flow} names={names} isDirty={isDirty} onChoose={setChosen} />
      <div className="mb-3 flex flex-wrap items-end gap-3">
        <TextField label="Name" className="w-64" value={name} onChange={event => setName(event.target.value)} />
        <SelectField label="View" className="w-32" value={view} onChange={event => setView(event.target.value)}>
          <option value="table">Table</option>
          <option value="canvas">Canvas</option>
          <option value="list">List</option>
        </SelectField>
        {view !== 'table' && (
          <Menu align="start" trigger={<Button icon={Plus}>Add a node</Button>}>
            {NODE_TYPES.filter(type => type !== 'entry' || graph.nodes.every(one => one.type !== 'entry')).map(type => (
              <MenuItem
                key={type}
                onSelect={() => {
                  // The new node is connected to the chosen one if that has an open end.
                  const place = node && openEnds(graph, node)[0]
                  onAdded(...(place === undefined ? withNode(graph, type) : withStep(graph, type, place)))
                }}
              >
                {TYPE_WORDS[type]}
              </MenuItem>
            ))}
          </Menu>
        )}
      </div>
      <div
        className={clsx(
          'grid grid-cols-[minmax(0,1fr)] items-start gap-4',
          node !== undefined && view !== 'table' && 'lg:grid-cols-[minmax(0,1fr)_18rem]',
        )}
      >
        {view === 'table' ? (
          <RulesTable graph={graph} choices={choices} onChange={setGraph} onCanvas={() => setView('canvas')} />
        ) : view === 'list' ? (
          <NodeList {...shared} />
        ) : (
          <Suspense fallback={<Waiting className="h-80" />}>
            <Canvas {...shared} onChange={setGraph} onAdded={onAdded} />
          </Suspense>
        )}
        {node !== undefined && view !== 'table' && (
          <aside aria-label="Selected node" className="rounded-lg border border-line bg-surface p-4">
            <NodeForm
              key={node.id}
              graph={graph}
              node={node}
              choices={choices}
              names={names}
              problems={flow.problems
                .filter(({ node_id }) => node_id === node.id)
                .map(({ message }) => withNodeName(message, flow, node.id, names))}
              isNew={node.id === added}
              onChange={setGraph}
              onAdded={onAdded}
              onRemoved={() => setChosen(undefined)}
            />
          </aside>
        )}
      </div>
    </>
  )
}

type ProblemsProps = { flow: FlowRow; names: NodeNames; isDirty: boolean; onChoose: (id: string) => void }

function Problems({ flow, names, isDirty, onChoose }: ProblemsProps) {
  if (flow.problems.length === 0) return null
  return (
    <section aria-label="Problems" className="mb-4 rounded-md border-l-3 border-l-warn bg-warn-soft px-3 py-2">
      <h2 className="text-base">
        Solve before publishing{isDirty && <span className="font-normal"> (as last saved)</span>}
      </h2>
      <ul className="mt-1 flex list-disc flex-col gap-0.5 pl-5">
        {flow.problems.map(({ node_id, message }) => (
          <li key={message}>
            {node_id === null ? (
              message
            ) : (
              <button type="button" className="text-left align-top hover:underline" onClick={() => onChoose(node_id)}>
                {withNodeName(message, flow, node_id, names)}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** A problem's message begins with the id of its node. This puts the node's name on screen in its place. */
function withNodeName(message: string, { graph }: FlowRow, node_id: string, names: NodeNames): string {
  const label = graph.nodes.find(({ id }) => id === node_id)?.label
  const prefix = `Node ${label ? `${node_id} (${label})` : node_id}: `
  return message.startsWith(prefix) ? `${names.get(node_id) ?? node_id}: ${message.slice(prefix.length)}` : message
}

type FlowActionsProps = { flow: FlowRow; isDirty: boolean; onSaved: (flow: FlowRow) => Promise<void> }

function FlowActions({ flow, isDirty, onSaved }: FlowActionsProps) {
  const { role } = useActive()
  const confirm = useConfirm()
  const [open, setOpen] = useState<'try' | 'versions'>()
  const unsaved = isDirty ? 'Save the draft first.' : undefined
  const effect = flow.is_draft_published
    ? `Version ${flow.published_version} takes traffic again.`
    : `The draft becomes version ${(flow.published_version ?? 0) + 1} and takes traffic at once.`
  const publish = () =>
    confirm({
      title: `Publish ${flow.name}?`,
      words: `${effect} ${flowReach(flow)}`,
      action: 'Publish',
      look: 'primary',
      deed: async () => {
        const published = await call(publishClickFlow, { params: { id: flow.id } })
        await onSaved(published)
        notifyDone(`Version ${published.published_version} is live`, published)
      },
    })
  return (
    <>
      <Button icon={History} onClick={() => setOpen('versions')}>
        Versions
      </Button>
      <Button icon={Route} reason={unsaved} onClick={() => setOpen('try')}>
        Try it
      </Button>
      <Button
        // Primary only if there are changes. Publishing an unchanged draft makes a paused flow active again.
        look={flow.is_draft_published ? 'plain' : 'primary'}
        icon={Upload}
        reason={
          reasonAgainst(publishClickFlow, role) ??
          unsaved ??
          (flow.problems.length > 0 ? 'Solve its problems first.' : undefined) ??
          (flow.is_draft_published && flow.status === 'active' ? 'There are no changes to publish.' : undefined)
        }
        onClick={publish}
      >
        Publish
      </Button>
      <TryDialog flow={flow} open={open === 'try'} onClose={() => setOpen(undefined)} />
      <VersionsDialog
        flow={flow}
        open={open === 'versions'}
        onClose={() => setOpen(undefined)}
        onRestored={restored => {
          void onSaved(restored)
          setOpen(undefined)
        }}
      />
    </>
  )
}
