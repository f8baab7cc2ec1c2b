/** What every member is told on each page while an ad account is broken: its conversions wait, and grow too old. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { AD_PLATFORM_LABELS } from '../../contract/ad-platforms.ts'
import { listAdAccounts } from '../../outgoing/ad-accounts/api.ts'
import { ask } from '../ground/call.ts'
import { Note } from '../ground/ui/refusal.tsx'

/** A connection breaks by itself, so the page asks again now and then. */
const AGAIN_MS = 60_000

export function AccountsBanner() {
  const { data } = useQuery({ ...ask(listAdAccounts, { query: { state: 'broken' } }), refetchInterval: AGAIN_MS })
  const [first, ...others] = data?.data ?? []
  if (first === undefined) return null
  return (
    <output className="mb-4 block">
      <Note kind="warning">
        <strong>
          {others.length === 0
            ? `${AD_PLATFORM_LABELS[first.platform]} takes nothing from ${first.name}.`
            : `${others.length + 1} ad accounts are broken.`}
        </strong>{' '}
        Its conversions wait until it is connected again.{' '}
        <Link to="/ad-accounts" className="underline underline-offset-2 hover:text-ink">
          To ad accounts
        </Link>
      </Note>
    </output>
  )
}
