/** What is said on each page while a certificate is not renewed, or cannot be had. Only owners are told of the main host's. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { listCertificateNotices } from '../../traffic/certificates/api.ts'
import { ask } from '../ground/call.ts'
import { moment } from '../ground/figures/figures.ts'
import { useNow } from '../ground/figures/now.ts'
import { Note } from '../ground/ui/refusal.tsx'

/** A certificate fails by itself, so the page asks again now and then. */
const AGAIN_MS = 60_000

export function CertificateBanner() {
  const now = useNow()
  const { data } = useQuery({ ...ask(listCertificateNotices), refetchInterval: AGAIN_MS })
  const notices = data?.data ?? []
  // A name of the main host first: the dashboard itself is there.
  const first = notices.find(({ domain_id }) => domain_id === null) ?? notices[0]
  if (first === undefined) return null
  const { name, domain_id, not_after, problem } = first
  const words =
    not_after === null
      ? `${name} has no certificate, and https does not open.`
      : Date.parse(not_after) <= now
        ? `The certificate of ${name} expired ${moment(not_after)}. Browsers warn visitors.`
        : `The certificate of ${name} expires ${moment(not_after)} and could not be renewed.`
  const others = notices.length - 1
  return (
    <output className="mb-4 block">
      <Note kind="warning">
        <strong>{words}</strong> {problem !== null && `The reason: ${problem.replace(/\.$/, '')}. `}
        {domain_id === null ? (
          'Check that the name points to this server and that port 80 is open. '
        ) : (
          <Link
            to="/settings/domains/$id"
            params={{ id: domain_id }}
            className="underline underline-offset-2 hover:text-ink"
          >
            To the domain
          </Link>
        )}
        {others > 0 &&
          ` ${others === 1 ? 'One more certificate needs' : `${others} more certificates need`} attention.`}
      </Note>
    </output>
  )
}
