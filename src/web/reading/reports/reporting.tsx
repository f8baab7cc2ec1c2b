/** The currency of amounts by day, and the note about it. */
import { useQuery } from '@tanstack/react-query'
import { readReportAsMember } from '../../../reading/reports/api.ts'
import { useActive } from '../../ground/active.ts'
import { ask, isRateUnknown } from '../../ground/call.ts'
import { sentence } from '../../ground/ui/plain-words.ts'

export type Reporting = {
  /** The workspace's currency, or USD where it has none, or no rate of a day of the window. */
  readonly currency: string
  /** The currency parameter of a report by day. */
  readonly query: { readonly currency?: string }
  /** Why amounts are in US dollars although the workspace has another currency. */
  readonly because: string | undefined
}

type Bounds = { readonly date_from: string; readonly date_to: string }

const DOLLARS: Reporting = { currency: 'USD', query: {}, because: undefined }

/** The overview's currency: the figures and the chart are both in the workspace's currency, or both in US dollars. */
export function useReporting([figures, drawn]: readonly [Bounds, Bounds], campaign: string | undefined): Reporting {
  const { reporting_currency: currency } = useActive()
  const asked = (bounds: Bounds) => {
    const narrowed = campaign === undefined ? {} : { campaign_id: campaign }
    const query = { dimension: 'day', ...bounds, ...narrowed, currency: currency ?? 'USD' } as const
    return { ...ask(readReportAsMember, { query }), enabled: currency !== null }
  }
  const errors = [useQuery(asked(figures)).error, useQuery(asked(drawn)).error]
  if (currency === null) return DOLLARS
  const unknown = errors.find(isRateUnknown)
  if (unknown != null) return { ...DOLLARS, because: sentence(unknown.message) }
  return { currency, query: { currency }, because: undefined }
}

type Asked = { readonly queryKey: readonly [unknown, { readonly query?: { readonly currency?: string } }] }

/** Keeps the previous answer until the next one arrives, but not where its currency is another. */
export const keptIn =
  (currency: string) =>
  <Shown,>(shown: Shown | undefined, asked: unknown): Shown | undefined =>
    ((asked as Asked | undefined)?.queryKey[1].query?.currency ?? 'USD') === currency ? shown : undefined

/** The note below the figures of a workspace that reports in another currency. */
export function ReportingWords({ reporting: { currency, because } }: { reporting: Reporting }) {
  if (currency === 'USD' && because === undefined) return null
  return (
    <p className="-mt-4 mb-6 text-sm text-ink-faint">
      {because === undefined
        ? `These figures are shown in ${currency} at each UTC day’s rate. Rows, lists, files and billing are in USD.`
        : `Shown in USD: ${because}`}
    </p>
  )
}
