/** Clicks as rows: time, status, revenue, campaign and attributes. */
import { Link } from '@tanstack/react-router'
import { clsx } from 'clsx'
import type { z } from 'zod'
import type { FeedClick } from '../../../reading/feed/api.ts'
import { CampaignCell, type CampaignNames } from '../../ground/campaign-name.tsx'
import { country, exactMoment, exactMoney, NONE } from '../../ground/figures/figures.ts'
import { CLICK_STATUSES } from '../../ground/rungs.ts'
import { zoneWords } from '../../ground/zone.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'

type ClickRow = z.input<typeof FeedClick>

type TableProps = { caption: string; clicks: readonly ClickRow[]; campaigns: CampaignNames }

export function ClickTable({ caption, clicks, campaigns }: TableProps) {
  return (
    <Table caption={caption}>
      <thead>
        <tr>
          <Head stay>{`Time (${zoneWords()})`}</Head>
          <Head>Status</Head>
          <Head numeric>Revenue</Head>
          <Head>Campaign</Head>
          <Head>Country</Head>
          <Head>Device</Head>
          <Head>sub1</Head>
          <Head>Source click id</Head>
          <Head>Click id</Head>
        </tr>
      </thead>
      <tbody>
        {clicks.map(click => (
          <Row key={click.id}>
            <RowHead stay className="font-normal!">
              {exactMoment(click.created_at)}
            </RowHead>
            <Cell>
              <Rung status={click.status} />{' '}
              {!click.tracked && (
                <Badge title="A crawler, preview, prefetch or test; not in reports">Not counted</Badge>
              )}
            </Cell>
            <Cell numeric faint={click.revenue === null}>
              {click.revenue === null ? NONE : exactMoney(click.revenue)}
            </Cell>
            <CampaignCell campaigns={campaigns} id={click.campaign_id} />
            <Cell faint={click.geo === null}>{click.geo === null ? NONE : country(click.geo)}</Cell>
            <Cell>{[click.device, click.os, click.browser].filter(part => part !== null).join(' · ') || NONE}</Cell>
            <Cell className="max-w-40 truncate" faint={click.sub1 === null} title={click.sub1 ?? undefined}>
              {click.sub1 ?? NONE}
            </Cell>
            <Cell className="max-w-40 truncate" faint={click.ref_id === null} title={click.ref_id ?? undefined}>
              {click.ref_id ?? NONE}
            </Cell>
            <Cell className="font-mono text-sm">
              <Link to="/clicks/$id" params={{ id: click.id }} className="text-accent hover:underline">
                {click.id}
              </Link>
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

/** A status, with as many filled steps as stages up to it. */
export function Rung({ status }: { status: ClickRow['status'] }) {
  const height = CLICK_STATUSES.indexOf(status)
  return (
    <span className="inline-flex w-28 items-center gap-2">
      <span aria-hidden className="flex h-3 items-end gap-px">
        {CLICK_STATUSES.map((rung, index) => (
          <span
            key={rung}
            className={clsx('w-1 rounded-[1px]', index <= height ? 'bg-chart-1' : 'bg-line')}
            style={{ height: `${4 + index * 1.4}px` }}
          />
        ))}
      </span>
      {status}
    </span>
  )
}
