/** Whether a campaign takes traffic: the switch, and the items of its menu that archive and delete it. */
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

const SHOW_IT = [listCampaigns, readCampaign, readClicksWhilePaused]
/** What shows which campaigns there are, and who leads where. */
export const SHOW_CAMPAIGNS = [listCampaigns, readCampaign, listOffers, listFunnels, listClickFlows]

const turn = (id: string, status: Status) => call(setCampaignStatus, { params: { id }, body: { status } })

/** Where visitors go while it takes none. */
const whereTo = ({ fallback_url }: CampaignRow) =>
  fallback_url === null
    ? 'Visitors see a page that says the offer is closed: it has no fallback.'
    : `Visitors go to its fallback, ${fallback_url}`

export function StateSwitch({ campaign }: { campaign: CampaignRow }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const { id, name, status } = campaign
  const set = useMutation({
    mutationFn: (on: boolean) => turn(id, on ? 'active' : 'paused'),
    onSuccess: async saved => {
      await refresh(...SHOW_IT)
      if (saved.status === 'active') notify(`${name} is active`, 'It takes traffic from the next visit on.')
      else notify(`${name} is paused`, whereTo(saved))
    },
    onError: refused => notify(`${name} is as it was`, refused.message),
  })
  return (
    <Switch
      label={`${name} takes traffic`}
      on={status === 'active'}
      pending={set.isPending}
      reason={
        reasonAgainst(setCampaignStatus, role) ??
        (status === 'archived' ? 'It is archived. Its menu takes it out of the archive.' : undefined)
      }
      onTurn={on => set.mutate(on)}
    />
  )
}

/** Archives, and takes out of the archive again, then paused: nothing runs because a row was tidied. */
export function ArchiveCampaignItem({ campaign }: { campaign: CampaignRow }) {
  const confirm = useConfirm()
  const { role } = useActive()
  const { id, name, status } = campaign
  const isArchived = status === 'archived'
  const ask = () =>
    confirm({
      title: isArchived ? `Take ${name} out of the archive?` : `Archive ${name}?`,
      words: isArchived
        ? 'It is listed again, and paused until it is switched on.'
        : `It takes no more traffic and leaves the list. ${whereTo(campaign)} Reports stay, and conversions of earlier clicks count.`,
      action: isArchived ? 'Unarchive' : 'Archive',
      look: 'primary',
      deed: () => turn(id, isArchived ? 'paused' : 'archived'),
      refresh: SHOW_IT,
      news: isArchived ? `${name} is paused` : `${name} is archived`,
    })
  return (
    <MenuItem
      icon={isArchived ? ArchiveRestore : Archive}
      reason={reasonAgainst(setCampaignStatus, role)}
      onSelect={ask}
    >
      {isArchived ? 'Unarchive' : 'Archive'}
    </MenuItem>
  )
}

export function DeleteCampaignItem({ campaign }: { campaign: CampaignRow }) {
  const { id, name, status, fallback_url } = campaign
  const then =
    fallback_url === null
      ? 'It has no fallback, so its address answers 404 from then on'
      : `Its address redirects to ${fallback_url} from then on`
  return (
    <DeleteItem
      name={name}
      what="campaign"
      endpoint={deleteCampaign}
      refresh={SHOW_CAMPAIGNS}
      before={status === 'archived' ? undefined : 'Archive it first.'}
      words={`${then} and records nothing. Reports stay, and late conversions still count. It cannot be brought back.`}
      deed={() => call(deleteCampaign, { params: { id } })}
    />
  )
}
