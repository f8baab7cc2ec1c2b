/** A campaign's public address, bare and with the parameters a traffic source fills in. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { readTestLink } from '../../../intake/clicks/api.ts'
import { type Campaign, SOURCE_FIELDS } from '../../../traffic/campaigns/api.ts'
import { ask } from '../../ground/call.ts'
import { CodeBlock } from '../../ground/ui/copy.tsx'
import { SelectField } from '../../ground/ui/field.tsx'

type Addressed = Pick<z.input<typeof Campaign>, 'id' | 'url' | 'source'>

/** The whole address; without BASE_URL the server knows its path only, and this browser the rest. */
export function addressOf({ url }: { url: string }): string {
  return url.startsWith('/') ? `${location.origin}${url}` : url
}

type Filled = Partial<Record<(typeof SOURCE_FIELDS)[number], string>>

/** What the traffic sources call what; they send their own click ids (fbclid, ttclid, gclid) by themselves. */
const SOURCES: Record<string, { name: string; fills: Filled }> = {
  none: { name: 'No traffic source: the bare address', fills: {} },
  meta: {
    name: 'Meta',
    fills: {
      sub1: '{{ad.name}}',
      sub2: '{{adset.name}}',
      sub3: '{{campaign.name}}',
      sub4: '{{placement}}',
      sub5: '{{ad.id}}',
    },
  },
  tiktok: {
    name: 'TikTok',
    fills: {
      sub1: '__CID_NAME__',
      sub2: '__AID_NAME__',
      sub3: '__CAMPAIGN_NAME__',
      sub4: '__PLACEMENT__',
      sub5: '__CID__',
    },
  },
  google: {
    name: 'Google Ads',
    fills: { sub1: '{creative}', sub2: '{adgroupid}', sub3: '{campaignid}', sub4: '{keyword}', sub5: '{device}' },
  },
  tracker: {
    name: 'Push or native source, or another tracker',
    fills: { ref_id: '{click_id}', sub1: '{zone_id}', sub2: '{banner_id}' },
  },
}

export function AddressBlock({ campaign }: { campaign: Addressed }) {
  const [source, setSource] = useState('none')
  const fills = SOURCES[source]?.fills ?? {}
  const query = SOURCE_FIELDS.flatMap(field => {
    const macro = fills[field]
    return macro === undefined ? [] : [`${campaign.source[field] ?? field}=${macro}`]
  })
  const text = addressOf(campaign) + (query.length === 0 ? '' : `?${query.join('&')}`)
  return (
    <div className="flex flex-col gap-3">
      <SelectField
        label="Parameters for"
        className="max-w-xs"
        value={source}
        onChange={event => setSource(event.target.value)}
      >
        {Object.entries(SOURCES).map(([id, { name }]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <CodeBlock label="Address for your ads" text={text} />
      <p className="text-sm text-ink-faint">
        The traffic source replaces its macros when it shows the ad. What it leaves as it is, such as an unknown macro,
        is stored as empty.
      </p>
      <TestLink id={campaign.id} />
    </div>
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
