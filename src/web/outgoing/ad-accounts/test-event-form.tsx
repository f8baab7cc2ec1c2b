/** A test event: its values, the call that was sent, and the platform's answer. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { AD_PLATFORM_LABELS } from '../../../contract/ad-platforms.ts'
import { EVENT_TYPES } from '../../../contract/event-types.ts'
import { testAdAccount } from '../../../outgoing/platform-answers/api.ts'
import { call } from '../../ground/call.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { inWords } from '../../ground/rungs.ts'
import { Button } from '../../ground/ui/button.tsx'
import { CodeBlock, indented } from '../../ground/ui/copy.tsx'
import { noneIfBlank, submits, useDraft } from '../../ground/ui/draft.ts'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import type { AdAccountRow } from './form-values.ts'
import { PLATFORM_FORMS } from './platforms.ts'

type TestEventDraft = z.input<typeof testAdAccount.body>
type TestEventReply = z.input<typeof testAdAccount.reply>

const MAP_IS_EMPTY = 'The event map is empty'

export function TestEventForm({ account, reason }: { account: AdAccountRow; reason: string | undefined }) {
  const mapped = EVENT_TYPES.filter(type => account.event_map[type] !== undefined)
  const form = useDraft<TestEventDraft>(testAdAccount.body, {
    event_type: mapped[0] ?? 'lead',
    click_id: null,
    test_event_code: null,
  })
  const errors = form.formState.errors
  const [result, setResult] = useState<TestEventReply>()
  const test = useMutation({
    mutationFn: (body: TestEventDraft) => call(testAdAccount, { params: { id: account.id }, body }),
    onMutate: () => setResult(undefined),
    onSuccess: setResult,
  })
  return (
    <div className="flex flex-col gap-4">
      <form noValidate className="flex flex-col gap-4" onSubmit={submits(form, draft => test.mutate(draft))}>
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectField label="Conversion" error={errors.event_type?.message} {...form.register('event_type')}>
            {mapped.map(type => (
              <option key={type} value={type}>
                {inWords(type)}
              </option>
            ))}
          </SelectField>
          {PLATFORM_FORMS[account.platform].needsTestCode && (
            <TextField
              label="Test code"
              placeholder="TEST12345"
              hint={`From the test page of ${AD_PLATFORM_LABELS[account.platform]}’s Events Manager.`}
              autoComplete="off"
              error={errors.test_event_code?.message}
              {...form.register('test_event_code', noneIfBlank)}
            />
          )}
        </div>
        <TextField
          label="Click id"
          optional
          hint="Its values are sent. Blank = a made-up visit."
          autoComplete="off"
          className="[&_input]:font-mono"
          error={errors.click_id?.message}
          {...form.register('click_id', noneIfBlank)}
        />
        <RefusalNote refused={test.error} />
        <Button
          type="submit"
          className="self-start"
          pending={test.isPending}
          reason={reason ?? (mapped.length === 0 ? MAP_IS_EMPTY : undefined)}
        >
          Send test event
        </Button>
      </form>
      {result !== undefined && <TestEventResult result={result} />}
    </div>
  )
}

function TestEventResult({ result: { accepted, reason, status, sent, answer } }: { result: TestEventReply }) {
  return (
    <output className="flex flex-col gap-3">
      <span className="flex flex-wrap items-center gap-2">
        <Badge tone={accepted ? 'good' : 'bad'}>{accepted ? 'Accepted' : sent === null ? 'Not sent' : 'Refused'}</Badge>
        {status !== null && <span className="text-ink-soft">HTTP {status}</span>}
        {reason !== null && <span>{reason}</span>}
      </span>
      {sent !== null && <CodeBlock label="Sent" text={indented(sent)} />}
      {answer !== null && <CodeBlock label="Answer" text={indented(answer)} />}
    </output>
  )
}
