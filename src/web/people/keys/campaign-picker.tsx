/** The choice between every campaign and a list of campaigns. Campaigns can be searched only in the active workspace. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useId, useState } from 'react'
import { listCampaigns } from '../../../traffic/campaigns/api.ts'
import { ask } from '../../ground/call.ts'
import { Checkbox, TextField } from '../../ground/ui/field.tsx'
import { Waiting } from '../../ground/ui/page.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import type { GrantedCampaign } from './grant-choice.ts'

type PickerProps = {
  chosen: readonly GrantedCampaign[] | undefined
  onChoose: (campaigns: readonly GrantedCampaign[] | undefined) => void
  /** Why campaigns of the chosen workspace cannot be searched. Undefined when they can. */
  reason: string | undefined
}

export function CampaignPicker({ chosen, onChoose, reason }: PickerProps) {
  const name = useId()
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 font-medium">Campaigns</legend>
      <div className="flex flex-col gap-1.5">
        <ScopeRadio name={name} checked={chosen === undefined} onChange={() => onChoose(undefined)}>
          Every campaign, including future ones
        </ScopeRadio>
        <ScopeRadio name={name} checked={chosen !== undefined} onChange={() => onChoose(chosen ?? [])}>
          Only some campaigns: report, feed and totals cover these alone, and workspace-wide rights are not granted
        </ScopeRadio>
      </div>
      {chosen !== undefined && (
        <div className="mt-3 rounded-md border border-line p-3">
          <ChosenCampaigns chosen={chosen} onChoose={onChoose} />
          {reason === undefined ? (
            <CampaignSearch chosen={chosen} onChoose={onChoose} />
          ) : (
            <p className="text-sm text-warn">{reason}</p>
          )}
        </div>
      )}
    </fieldset>
  )
}

function ScopeRadio({
  name,
  checked,
  onChange,
  children,
}: {
  name: string
  checked: boolean
  onChange: () => void
  children: React.ReactNode
}) {
  return (
    <label className="flex items-start gap-2.5">
      <input
        type="radio"
        name={name}
        checked={checked}
        onChange={onChange}
        className="mt-0.5 size-4 shrink-0 accent-accent"
      />
      <span>{children}</span>
    </label>
  )
}

type ListProps = { chosen: readonly GrantedCampaign[]; onChoose: (campaigns: readonly GrantedCampaign[]) => void }

function ChosenCampaigns({ chosen, onChoose }: ListProps) {
  if (chosen.length === 0) return null
  return (
    <ul aria-label="Chosen campaigns" className="mb-3 flex flex-col gap-2 border-b border-line pb-3">
      {chosen.map(campaign => (
        <li key={campaign.id}>
          <Checkbox
            label={campaign.deleted ? `${campaign.name} (deleted)` : campaign.name}
            checked
            onChange={() => onChoose(chosen.filter(one => one.id !== campaign.id))}
          />
        </li>
      ))}
    </ul>
  )
}

function CampaignSearch({ chosen, onChoose }: ListProps) {
  const [q, setQ] = useState('')
  const sought = useDeferredValue(q.trim())
  const found = useQuery({
    ...ask(listCampaigns, { query: { limit: 100, status: 'all', ...(sought === '' ? {} : { q: sought }) } }),
    placeholderData: keepPreviousData,
  })
  const rest = found.data?.data.filter(campaign => chosen.every(one => one.id !== campaign.id))
  return (
    <>
      <TextField
        label="Find a campaign"
        placeholder="Part of the name or key"
        value={q}
        onChange={event => setQ(event.target.value)}
        className="mb-3"
      />
      <RefusalNote refused={found.error} />
      {rest === undefined ? (
        <Waiting className="h-16" />
      ) : (
        <ul aria-label="Campaigns to choose from" className="flex max-h-44 flex-col gap-2 overflow-y-auto p-0.5">
          {rest.map(campaign => (
            <li key={campaign.id}>
              <Checkbox
                label={campaign.name}
                checked={false}
                onChange={() => onChoose([...chosen, { id: campaign.id, name: campaign.name }])}
              />
            </li>
          ))}
          {rest.length === 0 && (
            <li className="text-ink-faint">
              {chosen.length > 0 && sought === '' ? 'All campaigns are chosen.' : 'No campaign found.'}
            </li>
          )}
          {found.data?.next_cursor != null && (
            <li className="text-ink-faint">There are more campaigns: narrow the search.</li>
          )}
        </ul>
      )}
    </>
  )
}
