/** The DNS records to set, each with copy buttons and what the last check found. */
import { Check, X } from 'lucide-react'
import { Badge } from '../../ground/ui/badge.tsx'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import type { DomainRow } from './state.tsx'

type DnsRecord = DomainRow['records'][number]

const WHY = { pointing: 'Points it here', proof: 'Proves ownership' } as const

export function RecordsTable({ domain: { records, check, status } }: { domain: DomainRow }) {
  if (records.length === 0)
    return (
      <Note>
        Point the name at the public address of this server. Set <code className="font-mono">BASE_URL</code> to see the
        records here.
      </Note>
    )
  const pointing = records.filter(({ why }) => why === 'pointing')
  const hasChoice = pointing.some(({ type }) => type === 'CNAME') && pointing.length > 1
  const proof = records.find(({ why }) => why === 'proof')
  const isServed = status === 'active' || status === 'failing'
  const isProven = status === 'active' && check?.arrived === true
  return (
    <div className="flex flex-col gap-2">
      <Table caption="Records to set in DNS">
        <thead>
          <tr>
            <Head>Type</Head>
            <Head>Name</Head>
            <Head>Value</Head>
            <Head>Purpose</Head>
            <Head>Found</Head>
          </tr>
        </thead>
        <tbody>
          {records.map(record => (
            <Row key={`${record.type} ${record.value}`}>
              <RowHead>
                <Badge>{record.type}</Badge>
              </RowHead>
              <CopyCell text={record.name} about="name" />
              <CopyCell text={record.value} about="value" />
              <Cell>
                {WHY[record.why]}
                {!record.is_needed && <span className="text-ink-faint"> (alternative)</span>}
              </Cell>
              <Cell>{check !== null && <FoundValue record={record} isProven={isProven} />}</Cell>
            </Row>
          ))}
        </tbody>
      </Table>
      <p className="text-sm text-ink-faint">
        {hasChoice &&
          'The alias (CNAME) follows this server when it moves. If your DNS does not allow one here, set the addresses instead. '}
        {proof !== undefined &&
          (isServed
            ? 'The TXT record proves that the name is yours. The domain works without it.'
            : // After a check, its result gives the reason.
              check === null && `The TXT record is needed. ${proof.reason ?? ''}`)}
      </p>
    </div>
  )
}

function CopyCell({ text, about }: { text: string; about: string }) {
  return (
    <Cell>
      <span className="inline-flex items-center gap-1 font-mono text-sm">
        {text}
        <CopyButton text={text} look="quiet" about={`${about} ${text}`} />
      </span>
    </Cell>
  )
}

/** No record counts as missing for a domain that reaches Sluice in another way, such as through a proxy. */
function FoundValue({ record: { value, found, is_needed, why }, isProven }: { record: DnsRecord; isProven: boolean }) {
  const isThere = found.includes(value)
  if (isThere)
    return (
      <>
        <Check aria-hidden className="size-4 text-good" />
        <span className="sr-only">Found</span>
      </>
    )
  if (found.length > 0)
    return (
      <span className={why === 'pointing' && isProven ? 'text-ink-faint' : 'text-warn'}>
        <span className="font-mono text-sm">{found.join(', ')}</span>
      </span>
    )
  if (!is_needed || isProven) return null
  return (
    <>
      <X aria-hidden className="size-4 text-bad" />
      <span className="sr-only">Not found</span>
    </>
  )
}
