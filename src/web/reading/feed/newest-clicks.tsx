/** The newest clicks, as they come. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { MousePointerClick } from 'lucide-react'
import { listClicksAsMember } from '../../../reading/feed/api.ts'
import { ask } from '../../ground/call.ts'
import { Asked, EmptyState, Section, Waiting } from '../../ground/ui/page.tsx'
import { ClickTable } from './click-table.tsx'

export function NewestClicks({ campaign }: { campaign: string | undefined }) {
  const clicks = useQuery({
    ...ask(listClicksAsMember, {
      query: { limit: '20', ...(campaign === undefined ? {} : { campaign_id: campaign }) },
    }),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  })
  return (
    <Section title="Newest clicks" words="The last 30 days, read again every 15 seconds.">
      <Asked query={clicks} waiting={<Waiting className="h-72" />}>
        {({ data, campaigns }) =>
          data.length === 0 ? (
            <EmptyState
              icon={MousePointerClick}
              title="No clicks yet"
              words="Send a visitor to a campaign’s address and the click appears here."
            />
          ) : (
            <ClickTable caption="Newest clicks" clicks={data} campaigns={campaigns} />
          )
        }
      </Asked>
    </Section>
  )
}
