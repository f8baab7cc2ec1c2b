/** The result of a test: how many visitors would go elsewhere, and each visitor's path with the reasons. */
import type { z } from 'zod'
import type { Tried, Way } from '../../../traffic/click-flows/api.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'

type Reply = z.input<typeof Tried>
type WireWay = z.input<typeof Way>

/** Visitors beyond these appear only in the summary. */
const MOST_SHOWN = 50

export function TriedNote({ tried }: { tried: Reply }) {
  const { visitors, ends } = tried
  const [only] = visitors
  if (only === undefined) return <Note>There are no clicks to test with yet.</Note>
  return (
    <div aria-live="polite" className="flex flex-col gap-4">
      {tried.tried > 1 && (
        <>
          <Note kind={tried.changed > 0 ? 'warning' : 'plain'}>
            Publishing the draft would send <strong>{tried.changed}</strong> of {tried.tried} clicks elsewhere.
          </Note>
          <Table caption="Destinations">
            <thead>
              <tr>
                <Head>Leads to</Head>
                <Head numeric>Draft</Head>
                <Head numeric>Published</Head>
              </tr>
            </thead>
            <tbody>
              {ends.map(({ leads_to, draft, published }) => (
                <Row key={leads_to}>
                  <RowHead className="max-w-80 truncate">{leads_to}</RowHead>
                  <Cell numeric>{draft}</Cell>
                  <Cell numeric>{published}</Cell>
                </Row>
              ))}
            </tbody>
          </Table>
        </>
      )}
      {visitors.slice(0, MOST_SHOWN).map(({ click_id, says, draft, published, is_changed }, at) => (
        <details
          key={click_id ?? at}
          open={visitors.length === 1}
          className="rounded-md border border-line px-3 py-2 [&_summary]:cursor-pointer"
        >
          <summary>
            <span className="font-medium">{says}</span>
            <span className="text-ink-soft"> → {draft.outcome === 'redirect' ? draft.address : draft.leads_to} </span>
            {is_changed && published !== null && <Badge tone="warn">Changed</Badge>}
          </summary>
          <div className="mt-2 grid gap-4 sm:grid-cols-2">
            <Steps title="Draft" way={draft} />
            {published === null ? (
              <p className="text-ink-faint">Nothing is published yet.</p>
            ) : (
              <Steps title="Published version" way={published} />
            )}
          </div>
        </details>
      ))}
    </div>
  )
}

function Steps({ title, way }: { title: string; way: WireWay }) {
  return (
    <div className="min-w-0">
      <h3 className="mb-1 text-base">{title}</h3>
      <ol className="flex list-decimal flex-col gap-1 pl-5">
        {way.steps.map(({ node_id, label, reason }) => (
          <li key={node_id} className="break-words">
            <strong className="font-medium">{label || node_id}</strong> <span className="text-ink-soft">{reason}</span>
          </li>
        ))}
      </ol>
      <p className="mt-1 break-words">
        Ends at <strong className="font-medium">{way.outcome === 'redirect' ? way.address : way.leads_to}</strong>.
      </p>
      {way.address !== null && way.outcome !== 'redirect' && (
        <p className="text-sm text-ink-soft">
          Address: <span className="font-mono break-all">{way.address}</span>
        </p>
      )}
      <p className="text-ink-soft">
        {way.earns_for === null ? 'Credited to no offer.' : `Credited to ${way.earns_for}.`}
      </p>
    </div>
  )
}
