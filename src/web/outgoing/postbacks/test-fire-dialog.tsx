/** A test fire: calls the rule at once with a real click's values and shows the answer. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { type PostbackRule, testPostbackRule } from '../../../outgoing/postbacks/api.ts'
import { call } from '../../ground/call.ts'
import { inWords } from '../../ground/rungs.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm } from '../../ground/ui/dialog.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'

type RuleRow = z.input<typeof PostbackRule>
type TestFireReply = z.input<(typeof testPostbackRule)['reply']>

export function TestFireDialog({ rule, open, onClose }: { rule: RuleRow; open: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Test postback"
      description={`Sends the postback for ${inWords(rule.event_type)} now, with a made-up event id. No delivery is recorded.`}
      width="wide"
    >
      {open && <TestFire rule={rule} onClose={onClose} />}
    </Dialog>
  )
}

function TestFire({ rule, onClose }: { rule: RuleRow; onClose: () => void }) {
  const [click, setClick] = useState('')
  const fire = useMutation({
    mutationFn: () =>
      call(testPostbackRule, {
        params: { id: rule.id },
        body: { click_id: click.trim() === '' ? null : click.trim() },
      }),
  })
  return (
    <DialogForm onSubmit={() => fire.mutate()}>
      <DialogBody>
        <TextField
          label="Click id"
          optional
          hint="Blank = the newest click that matches the rule."
          value={click}
          onChange={event => setClick(event.target.value)}
          className="[&_input]:font-mono"
          spellCheck={false}
          autoComplete="off"
        />
        <div aria-live="polite">{fire.data !== undefined && <TestFireResult fired={fire.data} />}</div>
        <RefusalNote refused={fire.error} />
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Close</Button>
        <Button type="submit" look="primary" pending={fire.isPending}>
          {fire.data === undefined ? 'Send test' : 'Send again'}
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}

function TestFireResult({ fired: { ok, method, url, status, error, answer, took_ms } }: { fired: TestFireReply }) {
  return (
    <div className="flex flex-col gap-2 rounded-md border border-line px-3 py-2.5">
      <div className="flex flex-wrap items-center gap-2">
        <Badge tone={ok ? 'good' : 'bad'}>{status === null ? 'No answer' : `HTTP ${status}`}</Badge>
        <span className="text-ink-soft">
          {ok ? 'A real postback would count as delivered' : 'A real postback would be retried'}, after {took_ms} ms
        </span>
      </div>
      <p className="font-mono text-sm break-all">
        {method} {url}
      </p>
      {error !== null && <p className="text-bad">{error}</p>}
      {answer !== null && answer !== '' && (
        <pre
          // A scrolling region must be reachable by keyboard.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          tabIndex={0}
          aria-label="Answer"
          className="max-h-40 overflow-auto rounded-sm bg-sunken px-2 py-1.5 font-mono text-sm whitespace-pre-wrap break-all"
        >
          {answer}
        </pre>
      )}
    </div>
  )
}
