/** A campaign's public address, bare and with the parameters a traffic source fills in. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { z } from 'zod'
import { readSourceFaults, readTestLink } from '../../../intake/clicks/api.ts'
import { type Campaign, readCampaignLink } from '../../../traffic/campaigns/api.ts'
import { ask } from '../../ground/call.ts'
import { count } from '../../ground/figures/figures.ts'
import { CodeBlock } from '../../ground/ui/copy.tsx'

type Addressed = Pick<z.input<typeof Campaign>, 'id' | 'url' | 'filled_url'>

/** The whole address; without BASE_URL the server knows its path only, and this browser the rest. */
export function addressOf({ url }: { url: string }): string {
  return url.startsWith('/') ? `${location.origin}${url}` : url
}

/** `children` is what may be done with the address. */
export function AddressBlock({ campaign, children }: { campaign: Addressed; children: ReactNode }) {
  const link = useQuery(ask(readCampaignLink, { params: { id: campaign.id } })).data
  return (
    <div className="flex flex-col gap-3">
      <CodeBlock label="Address for your ads" text={addressOf({ url: campaign.filled_url })} />
      <p className="text-sm text-ink-faint">
        {campaign.filled_url === campaign.url
          ? 'Choose the traffic source below and save: its macros then stand in the address.'
          : `${link?.traffic_source?.name ?? 'The source'} replaces its macros when it shows the ad. What it leaves as it is, such as an unknown macro, is stored as empty.`}
        {link?.has_fragment === true &&
          ' A browser takes what is behind a # for a place on the page: opened by hand, before the source has filled it, this address brings nothing.'}
      </p>
      {children}
      <SourceFaults id={campaign.id} />
      <TestLink id={campaign.id} />
    </div>
  )
}

/** What the source left as it is, so that its address in the ads can be put right. */
function SourceFaults({ id }: { id: string }) {
  const faults = useQuery(ask(readSourceFaults, { params: { id } })).data?.data ?? []
  if (faults.length === 0) return null
  return (
    <ul className="flex flex-col gap-1 text-sm text-warn">
      {faults.map(({ field, fault, parameter, value, clicks }) => (
        <li key={`${field} ${fault}`} className="break-all">
          {`${count(clicks)} ${clicks === 1 ? 'click' : 'clicks'} of the last seven days came with `}
          <code className="font-mono">{`${parameter}=${value}`}</code>
          {fault === 'unreplaced' ? ': not replaced.' : '…: a click id too long to be kept.'}
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
      <CodeBlock label="Address to try it out by" text={addressOf(link.data)} />
      <p className="text-sm text-ink-faint">
        Leads to the same place. Its clicks and their conversions are never counted, billed or delivered; Clicks shows
        them under “Bots, previews, tests”.
      </p>
    </>
  )
}
