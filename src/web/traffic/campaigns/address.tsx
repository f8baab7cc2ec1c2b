/** A campaign's link for ads, with the parameters that its traffic source fills in, and its test link. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { z } from 'zod'
import { readSourceFaults, readTestLink } from '../../../intake/clicks/api.ts'
import { type Campaign, readCampaignLink } from '../../../traffic/campaigns/api.ts'
import { ask } from '../../ground/call.ts'
import { count } from '../../ground/figures/figures.ts'
import { CodeBlock } from '../../ground/ui/copy.tsx'

type CampaignLink = Pick<z.input<typeof Campaign>, 'id' | 'url' | 'filled_url'>

/** The full link. Without BASE_URL the server knows only the path, so the browser's own origin is used. */
export function addressOf({ url }: { url: string }): string {
  return url.startsWith('/') ? `${location.origin}${url}` : url
}

/** `children` are the actions below the link. */
export function AddressBlock({ campaign, children }: { campaign: CampaignLink; children: ReactNode }) {
  const link = useQuery(ask(readCampaignLink, { params: { id: campaign.id } })).data
  return (
    <div className="flex flex-col gap-3">
      <CodeBlock label="Campaign link" text={addressOf({ url: campaign.filled_url })} />
      <p className="text-sm text-ink-faint">
        {campaign.filled_url === campaign.url
          ? 'Choose the traffic source below and save: the link will include its macros.'
          : `${link?.traffic_source?.name ?? 'The source'} replaces its macros when it shows the ad. Unreplaced macros are saved as blank.`}
        {link?.has_fragment === true &&
          ' The link contains a #. Opened by hand, before the source fills it, it passes no parameters: a browser does not send the part after a #.'}
      </p>
      {children}
      <SourceFaults id={campaign.id} />
      <TestLink id={campaign.id} />
    </div>
  )
}

/** Macros that the source did not replace, so that the link in the ads can be corrected. */
function SourceFaults({ id }: { id: string }) {
  const faults = useQuery(ask(readSourceFaults, { params: { id } })).data?.data ?? []
  if (faults.length === 0) return null
  return (
    <ul className="flex flex-col gap-1 text-sm text-warn">
      {faults.map(({ field, fault, parameter, value, clicks }) => (
        <li key={`${field} ${fault}`} className="break-all">
          {`${count(clicks)} ${clicks === 1 ? 'click' : 'clicks'} of the last seven days came with `}
          <code className="font-mono">{`${parameter}=${value}`}</code>
          {fault === 'unreplaced' ? ': not replaced.' : '…: a click id too long to be saved.'}
        </li>
      ))}
    </ul>
  )
}

function TestLink({ id }: { id: string }) {
  const link = useQuery(ask(readTestLink, { params: { id } }))
  if (link.data === undefined) return null
  return (
    <>
      <CodeBlock label="Test link" text={addressOf(link.data)} />
      <p className="text-sm text-ink-faint">
        Leads to the same destination. Its clicks and their conversions are never counted, billed or delivered; Clicks
        shows them under “Bots, previews, tests”.
      </p>
    </>
  )
}
