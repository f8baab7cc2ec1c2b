/** The list of signed-in browsers. */
import { useMutation, useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { listSessions, revokeSession, type Session } from '../../../people/accounts/api.ts'
import { ask, call } from '../../ground/call.ts'
import { ago, moment } from '../../ground/figures/figures.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { Loaded } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { postAuth } from './session.ts'

type SessionRow = z.input<typeof Session>

export function Sessions() {
  const refresh = useRefresh()
  const sessions = useQuery(ask(listSessions))
  const others = useMutation({
    mutationFn: () => postAuth('/revoke-other-sessions'),
    onSuccess: async () => {
      await refresh(listSessions)
      notify('Every other browser is signed out')
    },
  })
  return (
    <Loaded query={sessions}>
      {({ data }) => (
        <div className="flex flex-col items-start gap-3">
          <ul className="w-full divide-y divide-line rounded-lg border border-line bg-surface">
            {data.map(session => (
              <SessionLine key={session.id} session={session} />
            ))}
          </ul>
          <RefusalNote refused={others.error} className="w-full" />
          {data.length > 1 && (
            <Button onClick={() => others.mutate()} pending={others.isPending}>
              Sign out every other browser
            </Button>
          )}
        </div>
      )}
    </Loaded>
  )
}

function SessionLine({ session }: { session: SessionRow }) {
  const refresh = useRefresh()
  const revoke = useMutation({
    mutationFn: () => call(revokeSession, { params: { id: session.id } }),
    onSuccess: () => refresh(listSessions),
  })
  const name = browserOf(session.user_agent)
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
      <div className="min-w-0 flex-1 basis-56">
        <p className="font-medium" title={session.user_agent ?? undefined}>
          {name} {session.current && <Badge tone="accent">This browser</Badge>}
        </p>
        <p className="text-sm text-ink-faint" title={`Signed in ${moment(session.created_at)}`}>
          {session.ip_address === null ? '' : `${session.ip_address} · `}last seen {ago(session.last_seen_at)}
        </p>
        <RefusalNote refused={revoke.error} className="mt-1" />
      </div>
      {!session.current && (
        <Button
          size="sm"
          look="danger-quiet"
          aria-label={`Sign out ${name}, ${session.ip_address ?? 'unknown address'}`}
          onClick={() => revoke.mutate()}
          pending={revoke.isPending}
        >
          Sign out
        </Button>
      )}
    </li>
  )
}

const BROWSERS: readonly [RegExp, string][] = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]
const SYSTEMS: readonly [RegExp, string][] = [
  [/Android/, 'Android'],
  [/iPhone|iPad/, 'iOS'],
  [/Windows/, 'Windows'],
  [/Mac OS/, 'macOS'],
  [/Linux/, 'Linux'],
]

/** A short name for the browser. The full user agent is in the tooltip. */
function browserOf(agent: string | null): string {
  if (agent === null) return 'Unknown browser'
  const browser = BROWSERS.find(([sign]) => sign.test(agent))?.[1]
  const system = SYSTEMS.find(([sign]) => sign.test(agent))?.[1]
  return browser === undefined ? agent.slice(0, 40) : system === undefined ? browser : `${browser} on ${system}`
}
