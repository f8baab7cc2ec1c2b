/** One click with everything that followed it: its path, conversions, charges, outgoing calls and refusals. */
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { readTrace } from '../../../reading/traces/api.ts'
import { ask } from '../../ground/call.ts'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { Loaded, PageHeader, Section } from '../../ground/ui/page.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { ClickFacts, Persons } from './facts.tsx'
import { Timeline } from './timeline.tsx'

const route = getRouteApi('/inside/clicks/$id')

export function TracePage() {
  const { id } = route.useParams()
  const trace = useQuery({ ...ask(readTrace, { params: { id: id.trim() } }), refetchInterval: 15_000, retry: false })
  const shown = trace.data?.click_id ?? id
  return (
    <>
      <BackLink to="/clicks">Clicks</BackLink>
      <PageHeader title="Click" words={<span className="font-mono break-all">{shown}</span>}>
        <CopyButton text={shown} label="Copy id" />
      </PageHeader>
      <Loaded query={trace}>
        {found => (
          <>
            {found.truncated && <Note>Only the first 100 conversions, 200 deliveries and 50 refusals are shown.</Note>}
            <div className="grid gap-x-8 lg:grid-cols-[minmax(0,1fr)_20rem]">
              <Section title="What happened">
                <Timeline trace={found} />
              </Section>
              <div>
                {found.click !== null && <ClickFacts click={found.click} campaigns={found.campaigns} />}
                <Persons trace={found} />
              </div>
            </div>
          </>
        )}
      </Loaded>
    </>
  )
}
