/** A compared file: its heaps with their counts, the lines of one, and what can be done with it. */
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { clsx } from 'clsx'
import { useState } from 'react'
import type { z } from 'zod'
import {
  actOnReconciliation,
  HEAPS,
  type Heap,
  listReconciledLines,
  readReconciliation,
  type Reconciliation,
} from '../../../intake/reconciliations/api.ts'
import { listHistory, undoChange } from '../../../people/history/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { count, exactMoment, exactMoney } from '../../ground/figures/figures.ts'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ground/ui/dialog.tsx'
import { Loaded, Section, Waiting } from '../../ground/ui/page.tsx'
import { Pager } from '../../ground/ui/pager.tsx'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { ActedLines, ReconciledLines } from './lines.tsx'
import { ACTS, COLUMN_WORDS, HEAP_WORDS, isActable } from './words.ts'

const route = getRouteApi('/inside/networks/$id/reconcile')

type Acted = z.input<(typeof actOnReconciliation)['reply']>

export function ComparedFile({ id, network }: { id: string; network: string }) {
  const file = useQuery(ask(readReconciliation, { params: { id } }))
  const [acted, setActed] = useState<Acted>()
  return (
    <Loaded query={file} what="comparison">
      {found => (
        <>
          <Facts file={found} />
          {acted !== undefined && <ActedNote acted={acted} onPutBack={() => setActed(undefined)} />}
          <HeapTabs file={found} />
          <HeapSection file={found} network={network} onActed={setActed} />
        </>
      )}
    </Loaded>
  )
}

function Facts({ file }: { file: z.input<typeof Reconciliation> }) {
  const { lines, from, to, totals, warnings, columns } = file
  const found = COLUMN_WORDS.flatMap(([column, words]) =>
    columns[column] === null ? [] : `${words.toLowerCase()} “${columns[column]}”`,
  )
  return (
    <div className="mb-5 flex flex-col gap-2">
      <p>
        {count(lines)} lines
        {from !== null && to !== null && `, from ${exactMoment(from)} to ${exactMoment(to)}`}. Approved here:{' '}
        <strong>${exactMoney(totals.here)}</strong>, there: <strong>${exactMoney(totals.there)}</strong>.
      </p>
      <p className="text-ink-faint">Columns: {found.join(', ')}.</p>
      {warnings.map(({ code, message }) => (
        <Note key={code} kind="warning">
          {message}
        </Note>
      ))}
    </div>
  )
}

const useHeap = (file: z.input<typeof Reconciliation>): Heap => {
  const { heap } = route.useSearch()
  const known = HEAPS.find(one => one === heap)
  return known ?? HEAPS.find(one => one !== 'same' && file.heaps[one] > 0) ?? 'same'
}

function HeapTabs({ file }: { file: z.input<typeof Reconciliation> }) {
  const navigate = useNavigate()
  const heap = useHeap(file)
  return (
    <fieldset aria-label="Heaps" className="mb-5 grid grid-cols-2 gap-2 sm:grid-cols-4 lg:grid-cols-7">
      {HEAPS.map(one => (
        <button
          key={one}
          type="button"
          aria-pressed={one === heap}
          className={clsx(
            'rounded-md border px-3 py-2 text-left',
            one === heap ? 'border-accent bg-sunken' : 'border-line hover:bg-sunken',
          )}
          onClick={() =>
            void navigate({
              to: '/networks/$id/reconcile',
              params: { id: file.network_id },
              search: { file: file.id, heap: one },
            })
          }
        >
          <span className={clsx('block text-lg', file.heaps[one] === 0 && 'text-ink-faint')}>
            {count(file.heaps[one])}
          </span>
          <span className="text-ink-soft">{HEAP_WORDS[one].name}</span>
        </button>
      ))}
    </fieldset>
  )
}

type HeapProps = { file: z.input<typeof Reconciliation>; network: string; onActed: (acted: Acted) => void }

function HeapSection({ file, network, onActed }: HeapProps) {
  const { role } = useActive()
  const { cursor } = route.useSearch()
  const navigate = useNavigate()
  const heap = useHeap(file)
  const [isOpen, setOpen] = useState(false)
  const lines = useQuery({
    ...ask(listReconciledLines, { params: { id: file.id }, query: { heap, cursor } }),
    placeholderData: keepPreviousData,
  })
  const isEmpty = file.heaps[heap] === 0
  const reason = reasonAgainst(actOnReconciliation, role) ?? (isEmpty ? 'The heap is empty.' : undefined)
  return (
    <Section
      title={HEAP_WORDS[heap].name}
      words={HEAP_WORDS[heap].words}
      aside={
        <div className="flex flex-wrap gap-2">
          {!isEmpty && (
            <a
              className={buttonLook('plain')}
              href={`/api/reconciliations/${file.id}/csv?heap=${heap}`}
              download={`${network} ${heap}.csv`}
            >
              Save CSV
            </a>
          )}
          {isActable(heap) && (
            <Button look="primary" reason={reason} onClick={() => setOpen(true)}>
              {ACTS[heap].button}
            </Button>
          )}
        </div>
      }
    >
      <Loaded query={lines} what="lines">
        {({ data, next_cursor }) => (
          <>
            {data.length === 0 ? <p className="text-ink-faint">No lines.</p> : <ReconciledLines lines={data} />}
            <Pager
              cursor={cursor}
              next={next_cursor}
              onGo={next =>
                void navigate({
                  to: '/networks/$id/reconcile',
                  params: { id: file.network_id },
                  search: { file: file.id, heap, cursor: next },
                })
              }
            />
          </>
        )}
      </Loaded>
      {isActable(heap) && isOpen && (
        <ActDialog id={file.id} heap={heap} onClose={() => setOpen(false)} onActed={onActed} />
      )}
    </Section>
  )
}

type ActProps = { id: string; heap: keyof typeof ACTS; onClose: () => void; onActed: (acted: Acted) => void }

/** Shows what would happen to each line, then does it. */
function ActDialog({ id, heap, onClose, onActed }: ActProps) {
  const client = useQueryClient()
  const { act, title, button, words } = ACTS[heap]
  const [leftOut, setLeftOut] = useState<readonly number[]>([])
  const body = { heap, act, leave_out: [...leftOut] }
  const preview = useQuery({
    queryKey: [actOnReconciliation.route, id, heap, 'dry run'],
    queryFn: () => call(actOnReconciliation, { params: { id }, body: { ...body, leave_out: [], dry_run: true } }),
    gcTime: 0,
  })
  const doing = useMutation({
    mutationFn: () => call(actOnReconciliation, { params: { id }, body: { ...body, dry_run: false } }),
    onSuccess: async done => {
      await client.invalidateQueries()
      onActed(done)
      onClose()
      notify(`${count(done.changed)} ${done.changed === 1 ? 'conversion' : 'conversions'} ${ACTS[heap].done}`)
    },
  })
  const chosen =
    preview.data?.data.filter(({ line, fate }) => fate === 'changes' && !leftOut.includes(line)).length ?? 0
  return (
    <Dialog open onClose={onClose} title={title} description={words} width="wide">
      <DialogBody>
        <RefusalNote refused={preview.error ?? doing.error} className="mb-3" />
        {preview.data === undefined ? (
          preview.error === null && <Waiting />
        ) : (
          <ActedLines lines={preview.data.data} leftOut={leftOut} onLeaveOut={setLeftOut} />
        )}
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          look="primary"
          pending={doing.isPending}
          reason={chosen === 0 ? 'No line would change anything.' : undefined}
          onClick={() => doing.mutate()}
        >
          {`${button}: ${count(chosen)}`}
        </Button>
      </DialogFoot>
    </Dialog>
  )
}

/** What was done, with a way back. */
function ActedNote({ acted, onPutBack }: { acted: Acted; onPutBack: () => void }) {
  const client = useQueryClient()
  const undo = useMutation({
    mutationFn: async () => {
      const { data } = await call(listHistory, { query: { act: acted.act_id ?? '', limit: 1 } })
      return await call(undoChange, { params: { id: data[0]?.id ?? '' }, body: { whole_act: true } })
    },
    onSuccess: async () => {
      await client.invalidateQueries()
      onPutBack()
      notify('It is put back')
    },
  })
  const refused =
    acted.refused === 0 ? '' : ` ${count(acted.refused)} ${acted.refused === 1 ? 'line was' : 'lines were'} refused.`
  return (
    <div className="mb-5" aria-live="polite">
      <Note>
        {`${count(acted.changed)} ${acted.changed === 1 ? 'conversion has' : 'conversions have'} changed.${refused}`}
        {acted.changed > 0 && (
          <Button size="sm" className="mt-2 flex!" pending={undo.isPending} onClick={() => undo.mutate()}>
            Put it back
          </Button>
        )}
        <RefusalNote refused={undo.error} className="mt-2" />
      </Note>
    </div>
  )
}
