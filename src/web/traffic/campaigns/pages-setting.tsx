/** Pages of a campaign that count their visits themselves: the tag, what arrived, and the servers that report for them. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { RefreshCw } from 'lucide-react'
import type { z } from 'zod'
import { DIAGNOSES } from '../../../contract/diagnoses.ts'
import type { Via } from '../../../contract/page-visits.ts'
import { listArrivals, readPageTag } from '../../../intake/pages/api.ts'
import { ask } from '../../ground/call.ts'
import { exactMoment } from '../../ground/figures/figures.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { CodeBlock } from '../../ground/ui/copy.tsx'
import { Loaded, Setting } from '../../ground/ui/page.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { PageServers } from './page-servers.tsx'
import { REASON_WORDS } from './reasons.ts'

type ArrivalRow = z.input<typeof listArrivals.reply>['data'][number]

const VIA_WORDS: Record<Via, string> = {
  script: 'Script',
  image: 'Image',
  onward: 'Link to the offer',
  server: 'Server',
}

const reasonOf = (reason: NonNullable<ArrivalRow['reason']>): string =>
  reason === 'site_not_listed' || reason === 'page_server_unknown' ? DIAGNOSES[reason].words : REASON_WORDS[reason]

export function PagesSetting({ id }: { id: string }) {
  const tag = useQuery(ask(readPageTag, { params: { id } }))
  return (
    <Setting
      title="Pages"
      words="Your pages can count visits themselves, without a redirect between the ad and the page."
      wide
    >
      <div className="flex flex-col gap-6">
        <Loaded query={tag} what="tag">
          {({ script, neutral_script, noscript, sites }) => (
            <div className="flex max-w-2xl flex-col gap-3">
              {sites.length === 0 && (
                <Note kind="warning">
                  <strong>No site is listed.</strong> Enter the hosts of your pages under Settings; until then no page
                  counts visits.
                </Note>
              )}
              <CodeBlock label="Tag, for the head of each page" text={script} />
              <CodeBlock label="The same tag, if a content blocker stops sluice.js" text={neutral_script} />
              <CodeBlock label="For pages without JavaScript" text={noscript} />
            </div>
          )}
        </Loaded>
        <Arrivals id={id} />
        <PageServers id={id} />
      </div>
    </Setting>
  )
}

/** Read again by hand, after opening a page. */
function Arrivals({ id }: { id: string }) {
  const arrivals = useQuery(ask(listArrivals, { params: { id } }))
  return (
    <section aria-label="What arrived">
      <div className="mb-2 flex items-center justify-between gap-3">
        <h3 className="font-medium">What arrived</h3>
        <Button size="sm" icon={RefreshCw} pending={arrivals.isFetching} onClick={() => void arrivals.refetch()}>
          Check again
        </Button>
      </div>
      <Loaded query={arrivals} what="reports of pages">
        {({ data }) =>
          data.length === 0 ? (
            <p className="text-ink-soft">Nothing yet. Open a page with the tag, then check again.</p>
          ) : (
            <ArrivalTable rows={data} />
          )
        }
      </Loaded>
    </section>
  )
}

function ArrivalTable({ rows }: { rows: readonly ArrivalRow[] }) {
  return (
    <Table caption="What arrived" className="max-h-96">
      <thead>
        <tr>
          <Head stay>Received</Head>
          <Head>Click</Head>
          <Head>Page</Head>
          <Head>By</Head>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ received_at, via, page, site, click_id, tracked, reason }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: Refused reports have no id, and rows have no state.
          <Row key={`${received_at} ${at}`}>
            <RowHead stay className="whitespace-nowrap">
              {exactMoment(received_at)}
            </RowHead>
            <Cell className="whitespace-nowrap">
              {click_id === null ? (
                <Badge tone="bad">Refused</Badge>
              ) : (
                <Link to="/clicks/$id" params={{ id: click_id }} className="text-accent hover:underline">
                  {tracked ? 'Counted' : 'Not counted'}
                </Link>
              )}
              {reason !== null && <span className="ml-2 text-sm text-ink-soft">{reasonOf(reason)}</span>}
            </Cell>
            <Cell className="max-w-64 truncate" title={page ?? site ?? undefined}>
              {page ?? site ?? 'Unknown'}
            </Cell>
            <Cell className="whitespace-nowrap">{VIA_WORDS[via]}</Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}
