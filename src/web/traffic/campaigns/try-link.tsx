/** Shows which parameters a campaign would read from a link, before there is any traffic: a sample link, or one from the source's preview. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { type ReadField, readTestLink, tryLink } from '../../../intake/clicks/api.ts'
import { ask, call } from '../../ground/call.ts'
import { NONE } from '../../ground/figures/figures.ts'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm } from '../../ground/ui/dialog.tsx'
import { TextArea } from '../../ground/ui/field.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { addressOf } from './address.tsx'

type Reply = z.input<(typeof tryLink)['reply']>
type Field = z.input<typeof ReadField>

export function TryLinkButton({ campaign: { id } }: { campaign: { id: string } }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button className="self-start" onClick={() => setOpen(true)}>
        Try it
      </Button>
      <Dialog
        open={open}
        onClose={() => setOpen(false)}
        title="Try the link"
        description="Shows what a click would save. Nothing is recorded."
        width="wide"
      >
        <TryLink id={id} />
      </Dialog>
    </>
  )
}

function TryLink({ id }: { id: string }) {
  const sample = useQuery({ ...ask(tryLink, { params: { id }, body: {} }), staleTime: 0 })
  const [typed, setTyped] = useState<string>()
  const attempt = useMutation({
    mutationFn: (url: string): Promise<Reply> => call(tryLink, { params: { id }, body: { url } }),
  })
  const url = typed ?? (sample.data === undefined ? '' : addressOf(sample.data))
  const read = attempt.data ?? (typed === undefined ? sample.data : undefined)
  return (
    <DialogForm onSubmit={() => attempt.mutate(url)}>
      <DialogBody>
        <TextArea
          label="Link as a visitor opens it"
          hint="Filled with sample values. Or paste a link from your source’s preview."
          rows={3}
          spellCheck={false}
          className="[&_textarea]:font-mono [&_textarea]:text-sm"
          value={url}
          onChange={event => setTyped(event.target.value)}
        />
        <RefusalNote refused={attempt.error ?? sample.error} />
        {attempt.error === null && read !== undefined && <ReadFields read={read} />}
      </DialogBody>
      <DialogFoot>
        <TestClick id={id} url={url} />
        <Button type="submit" look="primary" pending={attempt.isPending}>
          Check
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}

/** Opens the link as a test click: it leads where visitors go, and is not counted. */
function TestClick({ id, url }: { id: string; url: string }) {
  const link = useQuery(ask(readTestLink, { params: { id } })).data
  const [, query] = /\?([^#]*)/.exec(url) ?? []
  if (link === undefined || query === undefined) return null
  return (
    <a href={`${addressOf(link)}&${query}`} target="_blank" rel="noreferrer" className={buttonLook('plain')}>
      Open as a test click
    </a>
  )
}

/** Why a value is not saved, and whether the link is at fault. */
const STATES: Record<Exclude<Field['state'], 'read'>, readonly [words: string, isFault: boolean]> = {
  not_sent: ['Not in the link', false],
  empty: ['Empty', false],
  unreplaced: ['Not saved: macro not replaced', true],
  too_long: ['Not saved: longer than 500 bytes', true],
  unusable: ['Not saved: not an ad platform’s click id', true],
  unreadable: ['No cost: not an amount such as 0.015', true],
  unused: ['Not saved: the cost model ignores it', false],
}

function ReadFields({ read: { fields, unknown, cost } }: { read: Reply }) {
  return (
    <div aria-live="polite" className="flex flex-col gap-3">
      <Table caption="Parameters">
        <thead>
          <tr>
            <Head>Field</Head>
            <Head>Parameter</Head>
            <Head>Received</Head>
            <Head>Saved</Head>
          </tr>
        </thead>
        <tbody>
          {fields.map(field => (
            <Row key={field.field}>
              <RowHead>{field.field}</RowHead>
              <Cell className="font-mono text-sm">{field.parameter}</Cell>
              <Cell className="max-w-48 truncate font-mono text-sm" title={field.sent ?? undefined}>
                {field.sent === null || field.sent === '' ? NONE : field.sent}
              </Cell>
              <SavedCell field={field} cost={cost} />
            </Row>
          ))}
        </tbody>
      </Table>
      {cost !== null && (
        <p className="text-sm text-ink-soft">
          {cost.usd === null ? 'The click would have no cost.' : `The click would cost $${cost.usd}.`}
        </p>
      )}
      {unknown.length > 0 && (
        <p className="text-sm text-ink-soft">
          {'Not saved: '}
          {unknown.map(({ parameter, sent }, at) => (
            <span key={parameter}>
              {at > 0 && ', '}
              <code className="font-mono break-all">{`${parameter}=${sent}`}</code>
            </span>
          ))}
          {'. No field uses these parameters.'}
        </p>
      )}
    </div>
  )
}

/** Why an amount that can be read is still not the click's cost. */
const tooMuch = ({ currency }: NonNullable<Reply['cost']>) =>
  currency === 'USD' ? 'No cost: above the campaign’s limit' : `No cost: above the limit, or no rate for ${currency}`

function SavedCell({ field, cost }: { field: Field; cost: Reply['cost'] }) {
  // A cost is saved as an amount in US dollars, not as the text that was sent.
  if (field.state === 'read')
    return (
      <Cell className="max-w-56 truncate">
        {field.field === 'cost' && cost?.usd != null ? `$${cost.usd}` : field.value}
      </Cell>
    )
  const [usual, isFault] = STATES[field.state]
  const words = field.state === 'unreadable' && cost?.original != null ? tooMuch(cost) : usual
  return <Cell className={isFault ? 'text-warn' : 'text-ink-faint'}>{words}</Cell>
}
