/** What a campaign would read of an address, before there is any traffic: the one its source fills, or one from the source's own preview. */
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
        title="Try the address"
        description="What a click would keep of it. Nothing is recorded, and nobody is sent anywhere."
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
          label="Address as a visitor opens it"
          hint="Filled with sample values. Paste one from your source’s preview to see what comes of it."
          rows={3}
          spellCheck={false}
          className="[&_textarea]:font-mono [&_textarea]:text-sm"
          value={url}
          onChange={event => setTyped(event.target.value)}
        />
        <RefusalNote refused={attempt.error ?? sample.error} />
        {attempt.error === null && read !== undefined && <WhatWasRead read={read} />}
      </DialogBody>
      <DialogFoot>
        <TestClick id={id} url={url} />
        <Button type="submit" look="primary" pending={attempt.isPending}>
          Read it
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}

/** Opens the address in earnest: it leads where visitors come, as a test click, which counts nowhere. */
function TestClick({ id, url }: { id: string; url: string }) {
  const link = useQuery(ask(readTestLink, { params: { id } })).data
  const [, query] = /\?([^#]*)/.exec(url) ?? []
  if (link === undefined || query === undefined) return null
  return (
    <a href={`${addressOf(link)}&${query}`} target="_blank" rel="noreferrer" className={buttonLook('plain')}>
      Open it as a test click
    </a>
  )
}

/** Why nothing is kept, and whether that is a fault of the address. */
const STATES: Record<Exclude<Field['state'], 'read'>, readonly [words: string, isFault: boolean]> = {
  not_sent: ['Not in the address', false],
  empty: ['Empty', false],
  unreplaced: ['Nothing: still the macro', true],
  too_long: ['Nothing: longer than 500 bytes', true],
  unusable: ['Nothing: no click id of an ad platform', true],
  unreadable: ['No cost: no amount such as 0.015', true],
  unused: ['Nothing: its cost model takes no cost from the link', false],
}

function WhatWasRead({ read: { fields, unknown, cost } }: { read: Reply }) {
  return (
    <div aria-live="polite" className="flex flex-col gap-3">
      <Table caption="What is read">
        <thead>
          <tr>
            <Head>Field</Head>
            <Head>Arrives as</Head>
            <Head>Came</Head>
            <Head>A click keeps</Head>
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
              <Kept field={field} cost={cost} />
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
          {'Nothing is kept of '}
          {unknown.map(({ parameter, sent }, at) => (
            <span key={parameter}>
              {at > 0 && ', '}
              <code className="font-mono break-all">{`${parameter}=${sent}`}</code>
            </span>
          ))}
          {': no field is filled from it.'}
        </p>
      )}
    </div>
  )
}

/** It is an amount, and is not taken. */
const tooMuch = ({ currency }: NonNullable<Reply['cost']>) =>
  currency === 'USD'
    ? 'No cost: more than the campaign takes'
    : `No cost: more than it takes, or no rate of ${currency}`

function Kept({ field, cost }: { field: Field; cost: Reply['cost'] }) {
  // Of a cost the amount is kept, not what was written.
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
