/** A campaign's public address, bare and with the parameters a traffic source fills in. */
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { sourceTemplateOf } from '../../../contract/source-templates.ts'
import { readTestLink } from '../../../intake/clicks/api.ts'
import { type Campaign, SOURCE_FIELDS } from '../../../traffic/campaigns/api.ts'
import { ask } from '../../ground/call.ts'
import { CodeBlock } from '../../ground/ui/copy.tsx'

type Addressed = Pick<z.input<typeof Campaign>, 'id' | 'url' | 'source'>

/** The whole address; without BASE_URL the server knows its path only, and this browser the rest. */
export function addressOf({ url }: { url: string }): string {
  return url.startsWith('/') ? `${location.origin}${url}` : url
}

export function AddressBlock({ campaign }: { campaign: Addressed }) {
  const template = sourceTemplateOf(campaign.source.template)
  const query = SOURCE_FIELDS.flatMap(field => {
    const macro = template?.fills[field]
    return macro === undefined ? [] : [`${campaign.source[field] ?? field}=${macro}`]
  })
  const text = addressOf(campaign) + (query.length === 0 ? '' : `?${query.join('&')}`)
  return (
    <div className="flex flex-col gap-3">
      <CodeBlock label="Address for your ads" text={text} />
      <p className="text-sm text-ink-faint">
        {template === undefined
          ? 'Choose the traffic source below and save: its macros then stand in the address.'
          : `${template.name} replaces its macros when it shows the ad. What it leaves as it is, such as an unknown macro, is stored as empty.`}
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
