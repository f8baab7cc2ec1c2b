/** Asks for what an act needs, shows what would become of each object, does it, and offers to put it back. */
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { listHistory, undoChange } from '../../../people/history/api.ts'
import { listOffers } from '../../../traffic/offers/api.ts'
import { listTags } from '../../../traffic/tags/api.ts'
import { ask, call } from '../call.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogBody, DialogFoot } from '../ui/dialog.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
import { Waiting } from '../ui/page.tsx'
import { RefusalNote } from '../ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../ui/table.tsx'
import { notify } from '../ui/toast.tsx'
import { ACT_WORDS, type ActType, type BulkEndpoint } from './acts.ts'

type Act = z.input<BulkEndpoint['body']>['act']
type Answer = z.input<BulkEndpoint['reply']>
type Objects = { ids: string[] } | { filter: Record<string, string> }

type ActDialogProps = {
  type: ActType
  what: string
  endpoint: BulkEndpoint
  objects: Objects
  onClose: () => void
  onDone: () => void
}

/** Rows of the preview. The API answers with all of them. */
const MOST_SHOWN = 100

export function ActDialog({ type, what, endpoint, objects, onClose, onDone }: ActDialogProps) {
  const [act, setAct] = useState<Act | undefined>(needsNothing(type) ? { type } : undefined)
  const client = useQueryClient()
  const preview = useQuery({
    queryKey: ['bulk', endpoint.route, objects, act],
    queryFn: () => call(endpoint, { body: { ...objects, act: act as Act, dry_run: true } }),
    enabled: act !== undefined,
    placeholderData: keepPreviousData,
    staleTime: 0,
  })
  const deed = useMutation({
    mutationFn: () => call(endpoint, { body: { ...objects, act: act as Act, dry_run: false } }),
    onSuccess: () => client.invalidateQueries(),
  })
  const undo = useMutation({
    mutationFn: async (act_id: string) => {
      const { data } = await call(listHistory, { query: { act: act_id, limit: 1 } })
      const [row] = data
      if (row === undefined) return
      await call(undoChange, { params: { id: row.id }, body: { whole_act: true } })
      await client.invalidateQueries()
    },
    onSuccess: () => {
      notify('It is put back')
      close()
    },
  })
  const close = () => {
    if (deed.data !== undefined) onDone()
    onClose()
  }
  const shown = deed.data ?? preview.data
  const ready = act !== undefined && preview.data !== undefined && !preview.isPlaceholderData
  return (
    <Dialog open onClose={close} width="wide" title={`${ACT_WORDS[type].words}: ${what}`}>
      <DialogBody>
        {deed.data === undefined && <ActFields type={type} onChange={setAct} />}
        <RefusalNote refused={deed.error ?? undo.error ?? preview.error} />
        {act !== undefined && shown === undefined && preview.error === null && <Waiting />}
        {shown !== undefined && act !== undefined && <Fates answer={shown} />}
      </DialogBody>
      <DialogFoot>
        {deed.data === undefined ? (
          <>
            <Button onClick={close}>Cancel</Button>
            <Button
              look="primary"
              pending={deed.isPending}
              reason={
                !ready ? 'Waiting for the preview.' : preview.data.changed === 0 ? 'Nothing would change.' : undefined
              }
              onClick={() => deed.mutate()}
            >
              {`${ACT_WORDS[type].words} (${preview.data?.changed ?? 0})`}
            </Button>
          </>
        ) : (
          <>
            {deed.data.act_id !== null && deed.data.changed > 0 && (
              <Button pending={undo.isPending} reason={undefined} onClick={() => undo.mutate(deed.data.act_id ?? '')}>
                Put it back
              </Button>
            )}
            <Button look="primary" onClick={close}>
              Done
            </Button>
          </>
        )}
      </DialogFoot>
    </Dialog>
  )
}

const needsNothing = (type: ActType): type is 'pause' | 'resume' | 'archive' | 'clone' =>
  ['pause', 'resume', 'archive', 'clone'].includes(type)

const TONES = { changes: 'good', same: 'plain', refused: 'bad' } as const
const WORDS = { changes: 'Changes', same: 'Is so already', refused: 'Cannot' } as const

/** How many of each fate, and the objects, those that cannot be changed first. */
function Fates({ answer }: { answer: Answer }) {
  const { dry_run, changed, same, refused, data } = answer
  const order = ['refused', 'changes', 'same'] as const
  const rows = order.flatMap(fate => data.filter(row => row.fate === fate)).slice(0, MOST_SHOWN)
  const counts = [
    `${changed} ${dry_run ? 'would change' : 'changed'}`,
    ...(same > 0 ? [`${same} are so already`] : []),
    ...(refused > 0 ? [`${refused} cannot be changed`] : []),
  ]
  return (
    <>
      <p aria-live="polite">{counts.join(', ')}.</p>
      <Table caption="What becomes of each" className="max-h-80">
        <thead>
          <tr>
            <Head>Name</Head>
            <Head>Fate</Head>
            <Head>What changes</Head>
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <Row key={row.id}>
              <RowHead className="max-w-60 truncate">{row.name ?? row.id}</RowHead>
              <Cell>
                <Badge tone={TONES[row.fate]}>{WORDS[row.fate]}</Badge>
              </Cell>
              <Cell className="max-w-80 truncate" title={row.error ?? undefined}>
                {row.error ?? row.fields.map(({ name }) => name).join(', ')}
              </Cell>
            </Row>
          ))}
        </tbody>
      </Table>
      {data.length > MOST_SHOWN && <p className="text-sm text-ink-soft">The first {MOST_SHOWN} are shown.</p>}
    </>
  )
}

/** The fields of an act. Calls `onChange` with the act once it is complete. */
function ActFields({ type, onChange }: { type: ActType; onChange: (act: Act | undefined) => void }) {
  if (type === 'tag' || type === 'untag')
    return <TagField onChange={tag_id => onChange(tag_id === undefined ? undefined : { type, tag_id })} />
  if (type === 'replace_offer') return <OfferFields onChange={onChange} />
  if (type === 'set_fallback') return <FallbackField onChange={onChange} />
  return null
}

function TagField({ onChange }: { onChange: (tag_id: string | undefined) => void }) {
  const tags = useQuery(ask(listTags, { query: { limit: 200 } })).data?.data ?? []
  return (
    <SelectField label="Tag" onChange={event => onChange(event.target.value === '' ? undefined : event.target.value)}>
      <option value="">{tags.length === 0 ? 'Create a tag in Settings, Tags' : 'Choose a tag'}</option>
      {tags.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}

function OfferFields({ onChange }: { onChange: (act: Act | undefined) => void }) {
  const offers = useQuery(ask(listOffers, { query: { limit: 200 } })).data?.data ?? []
  const [pair, setPair] = useState({ from: '', to: '' })
  const set = (next: typeof pair) => {
    setPair(next)
    const { from, to } = next
    onChange(from === '' || to === '' ? undefined : { type: 'replace_offer', from_offer_id: from, to_offer_id: to })
  }
  const options = offers.map(({ id, name }) => (
    <option key={id} value={id}>
      {name}
    </option>
  ))
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label="Offer to replace"
        value={pair.from}
        onChange={event => set({ ...pair, from: event.target.value })}
      >
        <option value="">Choose an offer</option>
        {options}
      </SelectField>
      <SelectField label="New offer" value={pair.to} onChange={event => set({ ...pair, to: event.target.value })}>
        <option value="">Choose an offer</option>
        {options}
      </SelectField>
    </div>
  )
}

function FallbackField({ onChange }: { onChange: (act: Act | undefined) => void }) {
  return (
    <TextField
      label="Fallback address"
      hint="Where visitors go while the destination is not available."
      onChange={event =>
        onChange(
          URL.canParse(event.target.value) ? { type: 'set_fallback', fallback_url: event.target.value } : undefined,
        )
      }
    />
  )
}
