/** One campaign: its links, settings, caps and hours. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import type { z } from 'zod'
import {
  setCampaignTags,
  setCampaignNote,
  listCampaigns,
  type Campaign,
  CampaignDraft,
  createCampaign,
  readCampaign,
  updateCampaign,
} from '../../../traffic/campaigns/api.ts'
import { LabelFields } from '../../ground/many/label-fields.tsx'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { moment } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import { ObjectHistory } from '../../ground/history/object-history.tsx'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { useOriginal } from '../../ground/ui/clone.tsx'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { Loaded, PageHeader, Setting } from '../../ground/ui/page.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notifyDone } from '../../ground/ui/toast.tsx'
import { useUnsaved } from '../../ground/ui/unsaved.ts'
import { CapsAndHours } from '../caps/caps-and-hours.tsx'
import { ReachedBadge } from '../caps/reached-badge.tsx'
import { LeftOutSetting } from '../left-out/left-out-setting.tsx'
import { AddressBlock } from './address.tsx'
import { CampaignFields } from './campaign-form.tsx'
import { ClicksWhilePaused } from './clicks-while-paused.tsx'
import { UnreadCosts } from './unread-costs.tsx'
import { copyOf, type CampaignValues, campaignValuesOf } from './draft.ts'
import { OwnAddressNote } from './own-address.tsx'
import { PagesSetting } from './pages-setting.tsx'
import { SHOW_CAMPAIGNS, StateSwitch } from './state.tsx'
import { TryLinkButton } from './try-link.tsx'

type CampaignRow = z.input<typeof Campaign>

const newRoute = getRouteApi('/inside/campaigns/new')

export function NewCampaignPage() {
  const { clone } = newRoute.useSearch()
  return (
    <>
      <BackLink to="/campaigns">Campaigns</BackLink>
      {clone === undefined ? <NewCampaign /> : <ClonedCampaign key={clone} id={clone} />}
    </>
  )
}

function ClonedCampaign({ id }: { id: string }) {
  const original = useOriginal('campaign', id, sought => call(readCampaign, { params: { id: sought } }))
  return (
    <Loaded query={original} title="Campaign">
      {found => <NewCampaign original={found} />}
    </Loaded>
  )
}

function NewCampaign({ original }: { original?: CampaignRow }) {
  const refresh = useRefresh()
  const navigate = useNavigate()
  const { role } = useActive()
  const form = useDraft(CampaignDraft, original === undefined ? campaignValuesOf(undefined) : copyOf(original))
  useUnsaved(form.formState.isDirty, 'the campaign')
  const create = useMutation({
    mutationFn: (body: CampaignValues) => call(createCampaign, { body }),
    onSuccess: async made => {
      const { id, name } = made
      await refresh(...SHOW_CAMPAIGNS)
      notifyDone(`${name} is ready`, made, 'Its link takes traffic now.')
      await navigate({ to: '/campaigns/$id', params: { id }, ignoreBlocker: true })
    },
  })
  const reason = reasonAgainst(createCampaign, role)
  return (
    <>
      <PageHeader
        title="New campaign"
        words={`${original === undefined ? '' : `A copy of ${original.name}, with its own link. `}It takes traffic at once.`}
      />
      <form
        noValidate
        className="flex max-w-2xl flex-col gap-4"
        onSubmit={submits(form, draft => create.mutate(draft))}
      >
        <fieldset disabled={reason !== undefined} className="flex min-w-0 flex-col gap-4">
          <CampaignFields form={form} isNew />
        </fieldset>
        <RefusalNote refused={create.error} />
        <div className="flex gap-2">
          <Button type="submit" look="primary" pending={create.isPending} reason={reason}>
            Create campaign
          </Button>
          <Link to="/campaigns" className={buttonLook('plain')}>
            Cancel
          </Link>
        </div>
      </form>
    </>
  )
}

const route = getRouteApi('/inside/campaigns/$id')

export function CampaignPage() {
  const { id } = route.useParams()
  const campaign = useQuery(ask(readCampaign, { params: { id } }))
  return (
    <>
      <BackLink to="/campaigns">Campaigns</BackLink>
      <Loaded query={campaign} title="Campaign">
        {found => <CampaignDetail key={found.id} campaign={found} />}
      </Loaded>
      <ObjectHistory kind="campaign" id={id} />
    </>
  )
}

/** Warnings that the bot or channel which the campaign leads to is not ready. */
function DestinationNotes({ campaign: { warnings } }: { campaign: z.input<typeof readCampaign.reply> }) {
  return warnings.map(({ code, message }) => (
    <Note key={code + message} kind="warning">
      {message}
    </Note>
  ))
}

function CampaignDetail({ campaign }: { campaign: z.input<typeof readCampaign.reply> }) {
  const refresh = useRefresh()
  const { role } = useActive()
  const form = useDraft(CampaignDraft, campaignValuesOf(campaign))
  useUnsaved(form.formState.isDirty, 'the campaign')
  const save = useMutation({
    mutationFn: (body: CampaignValues) => call(updateCampaign, { params: { id: campaign.id }, body }),
    onSuccess: async saved => {
      form.reset(campaignValuesOf(saved))
      await refresh(...SHOW_CAMPAIGNS)
      notifyDone(`${saved.name} is saved`, saved, 'Applies from the next click.')
    },
  })
  return (
    <>
      <PageHeader
        title={campaign.name}
        words={
          <span className="flex flex-wrap items-center gap-2">
            <StateSwitch campaign={campaign} />
            <Badge tone={campaign.status === 'active' ? 'good' : 'plain'}>{inWords(campaign.status)}</Badge>
            <ReachedBadge of={campaign.id} />
            {`Since ${moment(campaign.created_at)}.`}
            <ClicksWhilePaused campaign={campaign} />
            <UnreadCosts campaign_id={campaign.id} />
          </span>
        }
      >
        <Link
          to="/report"
          search={{ by: 'day', where: [['campaign', 'is', campaign.id]] }}
          className={buttonLook('plain')}
        >
          Report
        </Link>
        <Link to="/clicks" search={{ campaign: campaign.id }} className={buttonLook('plain')}>
          Clicks
        </Link>
        <Link to="/conversions" search={{ campaign: campaign.id }} className={buttonLook('plain')}>
          Conversions
        </Link>
      </PageHeader>
      <DestinationNotes campaign={campaign} />
      <Setting title="Links" words="Use the campaign link in your ads.">
        <AddressBlock campaign={campaign}>
          <TryLinkButton campaign={campaign} />
        </AddressBlock>
      </Setting>
      <Setting title="Settings" words="Applies from the next click.">
        <OwnAddressNote
          campaign={campaign}
          before={form.formState.isDirty ? 'Save the campaign first.' : undefined}
          onFollowing={following => form.reset(campaignValuesOf(following))}
        />
        <PartForm
          action="Save campaign"
          onSubmit={submits(form, draft => save.mutate(draft))}
          save={save}
          reason={reasonAgainst(updateCampaign, role)}
        >
          <CampaignFields form={form} isNew={false} />
        </PartForm>
      </Setting>
      <PagesSetting id={campaign.id} />
      <Setting
        title="Caps and hours"
        words="When a cap is reached or outside the open hours, visitors go to the fallback."
      >
        <CapsAndHours of={{ object: 'campaign', id: campaign.id, name: campaign.name }} />
      </Setting>
      <LeftOutSetting id={campaign.id} />
      <Setting title="Tags and note" words="For lists, reports and your team. Part of no address.">
        <LabelFields
          of={campaign}
          setTags={setCampaignTags}
          setNote={setCampaignNote}
          shownIn={[readCampaign, listCampaigns]}
        />
      </Setting>
      <Setting title="Id" words="Identifies the campaign in the API.">
        <div className="flex items-center gap-3">
          <code className="font-mono text-sm">{campaign.id}</code>
          <CopyButton text={campaign.id} label="Copy id" />
        </div>
      </Setting>
    </>
  )
}
