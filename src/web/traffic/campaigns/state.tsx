/** The state of a campaign: the switch that pauses it, and the menu items that archive and delete it. */
import { useMutation } from '@tanstack/react-query'
import { Archive, ArchiveRestore } from 'lucide-react'
import type { z } from 'zod'
import { readClicksWhilePaused } from '../../../intake/clicks/api.ts'
import {
  type Campaign,
  deleteCampaign,
  listCampaigns,
  readCampaign,
  setCampaignStatus,
} from '../../../traffic/campaigns/api.ts'
import { listClickFlows } from '../../../traffic/click-flows/api.ts'
import { listFunnels } from '../../../traffic/funnels/api.ts'
import { listOffers } from '../../../traffic/offers/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { MenuItem } from '../../ground/ui/menu.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { DeleteItem } from '../../ground/ui/row-menu.tsx'
import { Switch } from '../../ground/ui/switch.tsx'
import { notify } from '../../ground/ui/toast.tsx'

type CampaignRow = Pick<z.input<typeof Campaign>, 'id' | 'name' | 'status' | 'fallback_url'>
type Status = CampaignRow['status']

const SHOW_STATUS = [listCampaigns, readCampaign, readClicksWhilePaused]
/** The queries that show campaigns, or how many of them lead somewhere. */
export const SHOW_CAMPAIGNS = [listCampaigns, readCampaign, listOffers, listFunnels, listClickFlows]

const setStatus = (id: string, status: Status) => call(setCampaignStatus, { params: { id }, body: { status } })

/** Where visitors go while the campaign takes no traffic. */
const whereTo = ({ fallback_url }: CampaignRow) =>
  fallback_url === null
    ? 'It has no fallback, so visitors see a page that says the offer is closed.'
    : `Visitors go to its fallback, ${fallback_url}.`

const ARCHIVED = 'It is archived. Unarchive it in its menu.'

/** Switches a campaign on or off, and says where its visitors go. */
function useTurnCampaign() {
  const refresh = useRefresh()
  return useMutation({
    mutationFn: ({ id, on }: { id: string; name: string; on: boolean }) => setStatus(id, on ? 'active' : 'paused'),
    onSuccess: async (saved, { name }) => {
      await refresh(...SHOW_STATUS)
      if (saved.status === 'active') notify(`${name} is active`, 'It takes traffic from the next click.')
      else notify(`${name} is paused`, whereTo(saved))
    },
    onError: (refused, { name }) => notify(`${name} is unchanged`, refused.message),
  })
}

/** Pauses, resumes or archives a campaign that was found by its name: as its switch and its menu do. */
export function useCampaignActs() {
  const turn = useTurnCampaign()
  const askArchive = useArchiveCampaign()
  return async (act: 'pause' | 'resume' | 'archive', id: string) => {
    const campaign = await call(readCampaign, { params: { id } })
    const { name, status } = campaign
    if (status === 'archived') notify(`${name} is unchanged`, ARCHIVED)
    else if (act === 'archive') askArchive(campaign)
    else turn.mutate({ id, name, on: act === 'resume' })
  }
}

export function StateSwitch({ campaign }: { campaign: CampaignRow }) {
  const { role } = useActive()
  const set = useTurnCampaign()
  const { id, name, status } = campaign
  return (
    <Switch
      label={`${name} takes traffic`}
      on={status === 'active'}
      pending={set.isPending}
      reason={reasonAgainst(setCampaignStatus, role) ?? (status === 'archived' ? ARCHIVED : undefined)}
      onTurn={on => set.mutate({ id, name, on })}
    />
  )
}

/** Asks, then archives or unarchives. An unarchived campaign is paused, so that tidying the list starts no traffic. */
function useArchiveCampaign(): (campaign: CampaignRow) => void {
  const confirm = useConfirm()
  return campaign => {
    const { id, name, status } = campaign
    const isArchived = status === 'archived'
    confirm({
      title: isArchived ? `Unarchive ${name}?` : `Archive ${name}?`,
      words: isArchived
        ? 'It is listed again, and stays paused until you switch it on.'
        : `It stops taking traffic and leaves the list. ${whereTo(campaign)} Its reports stay, and conversions of earlier clicks still count.`,
      action: isArchived ? 'Unarchive' : 'Archive',
      look: 'primary',
      deed: () => setStatus(id, isArchived ? 'paused' : 'archived'),
      refresh: SHOW_STATUS,
      news: isArchived ? `${name} is paused` : `${name} is archived`,
    })
  }
}

export function ArchiveCampaignItem({ campaign }: { campaign: CampaignRow }) {
  const askArchive = useArchiveCampaign()
  const { role } = useActive()
  const isArchived = campaign.status === 'archived'
  return (
    <MenuItem
      icon={isArchived ? ArchiveRestore : Archive}
      reason={reasonAgainst(setCampaignStatus, role)}
      onSelect={() => askArchive(campaign)}
    >
      {isArchived ? 'Unarchive' : 'Archive'}
    </MenuItem>
  )
}

export function DeleteCampaignItem({ campaign }: { campaign: CampaignRow }) {
  const { id, name, status, fallback_url } = campaign
  const consequence =
    fallback_url === null ? 'It has no fallback, so its link answers 404' : `Its link redirects to ${fallback_url}`
  return (
    <DeleteItem
      name={name}
      what="campaign"
      endpoint={deleteCampaign}
      refresh={SHOW_CAMPAIGNS}
      before={status === 'archived' ? undefined : 'Archive it first.'}
      words={`${consequence} and records no clicks. Its reports stay, and late conversions still count. This cannot be undone.`}
      deed={() => call(deleteCampaign, { params: { id } })}
    />
  )
}
