/** Every attempt of a delivery: the call and its answer. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { RotateCcw } from 'lucide-react'
import type { z } from 'zod'
import { type DeliveryAttempt, listDeliveries, readDelivery, resendDelivery } from '../../../outgoing/deliveries/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { exactMoment } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { CopyButton, indented } from '../../ground/ui/copy.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ground/ui/dialog.tsx'
import { Loaded } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { GoogleOutcome, isGoogleCall } from '../ad-accounts/google-outcome.tsx'
import { DroppedAttempts } from './dropped-attempts.tsx'

export function AttemptsDialog({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  return (
    <Dialog open={id !== undefined} onClose={onClose} title="Attempts" width="wide">
      <DialogBody>{id !== undefined && <Attempts id={id} />}</DialogBody>
      {id !== undefined && <SendAgain id={id} onClose={onClose} />}
    </Dialog>
  )
}

function SendAgain({ id, onClose }: { id: string; onClose: () => void }) {
  const refresh = useRefresh()
  const { role } = useActive()
  const resending = useMutation({
    mutationFn: () => call(resendDelivery, { params: { id } }),
    onSuccess: async () => {
      await refresh(listDeliveries, readDelivery)
      onClose()
      notify('The delivery is queued again', 'It keeps its event id and gets all its retries again.')
    },
  })
  return (
    <DialogFoot>
      <RefusalNote refused={resending.error} className="mr-auto" />
      <Button onClick={onClose}>Close</Button>
      <Button
        look="primary"
        icon={RotateCcw}
        pending={resending.isPending}
        reason={reasonAgainst(resendDelivery, role)}
        onClick={() => resending.mutate()}
      >
        Send again
      </Button>
    </DialogFoot>
  )
}

function Attempts({ id }: { id: string }) {
  const delivery = useQuery(ask(readDelivery, { params: { id } }))
  return (
    <Loaded query={delivery}>
      {({ history, attempts_dropped, kind, state, target_id, click_id, event_type }) => (
        <>
          <p className="text-ink-soft">
            {inWords(event_type)} of the click{' '}
            <Link
              to="/clicks/$id"
              params={{ id: click_id }}
              className="font-mono text-sm break-all text-accent hover:underline"
            >
              {click_id}
            </Link>
          </p>
          {history.length === 0 && attempts_dropped === 0 ? (
            <p className="text-ink-soft">{state === 'skipped' ? 'None: it was skipped.' : 'None yet.'}</p>
          ) : (
            <>
              <DroppedAttempts of={{ attempts_dropped, history }} className="mb-3" />
              <ol className="flex flex-col gap-3">
                {history.map(attempt => (
                  <Attempt key={attempt.number} attempt={attempt} />
                ))}
              </ol>
              {kind === 'ad_account' && state === 'delivered' && isGoogleCall(history.at(-1)?.url) && (
                <GoogleOutcome account={target_id} delivery={id} />
              )}
            </>
          )}
        </>
      )}
    </Loaded>
  )
}

function Attempt({ attempt }: { attempt: z.input<typeof DeliveryAttempt> }) {
  const { number, started_at, finished_at, method, url, body, status, error, answer } = attempt
  return (
    <li className="rounded-md border border-line px-3 py-2.5">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-semibold">{number}.</span>
        <span className="text-ink-soft">{exactMoment(started_at)}</span>
        {status !== null ? (
          <Badge tone={status >= 200 && status < 300 ? 'good' : 'bad'}>{`HTTP ${status}`}</Badge>
        ) : (
          <Badge tone={finished_at === null ? 'accent' : 'bad'}>
            {finished_at === null ? 'Under way' : 'No answer'}
          </Badge>
        )}
        <span className="ml-auto">
          <CopyButton text={url} label="Copy address" look="quiet" />
        </span>
      </div>
      <p className="mt-1 font-mono text-sm break-all">
        {method} {url}
      </p>
      {body !== null && <CallText label={`What attempt ${number} sent`} text={body} />}
      {error !== null && <p className="mt-1 text-bad">{error}</p>}
      {answer !== null && answer !== '' && <CallText label={`Answer to attempt ${number}`} text={answer} />}
    </li>
  )
}

function CallText({ label, text }: { label: string; text: string }) {
  return (
    <pre
      // A scrolling region must be reachable by keyboard.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      aria-label={label}
      className="mt-2 max-h-40 overflow-auto rounded-sm bg-sunken px-2 py-1.5 font-mono text-sm whitespace-pre-wrap break-all"
    >
      {indented(text)}
    </pre>
  )
}
