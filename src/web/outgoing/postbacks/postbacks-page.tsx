/** Postback rules: the address called for each kind of conversion. */
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { CirclePause, CirclePlay, FlaskConical, History, Pencil, Send, Trash2, Webhook } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import {
  backfillPostbackRule,
  createPostbackRule,
  deletePostbackRule,
  exportPostbackRules,
  listPostbackRules,
  type PostbackRule,
  testPostbackRule,
  updatePostbackRule,
} from '../../../outgoing/postbacks/api.ts'
import { changePostbacks } from '../../../people/bulk/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { CampaignChoice, useCampaignNames } from '../../ground/campaign-choice.tsx'
import { day } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import { HistoryItem } from '../../ground/history/object-history.tsx'
import { WithActs } from '../../ground/many/act-bar.tsx'
import type { ActType } from '../../ground/many/acts.ts'
import { SelectBox, SelectPage } from '../../ground/many/selection.tsx'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { CloneItem } from '../../ground/ui/clone.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { useListAddress } from '../../ground/ui/list.tsx'
import { ListPage, OpenName } from '../../ground/ui/list-page.tsx'
import { MenuItem, MenuLine } from '../../ground/ui/menu.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { SourceChoice, useSource } from '../../ground/source-choice.tsx'
import { SaveCsv } from '../../ground/save-csv.tsx'
import { RowMenu } from '../../ground/ui/row-menu.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { RunDialog } from '../deliveries/run-dialog.tsx'
import { CALLED_ON_WORDS } from './called-on.ts'
import { PostbackDialog } from './postback-dialog.tsx'
import { TestFireDialog } from './test-fire-dialog.tsx'

type RuleRow = z.input<typeof PostbackRule>

const route = getRouteApi('/inside/postbacks')

const ACTS: readonly ActType[] = ['pause', 'resume', 'clone']

export function PostbacksPage() {
  const address = useListAddress(route.useSearch())
  const { search, narrow } = address
  const { campaign: campaign_id, source: traffic_source_id, type: event_type, cursor } = search
  const source = useSource(traffic_source_id)
  const rules = useQuery({
    ...ask(listPostbackRules, { query: { campaign_id, traffic_source_id, event_type, cursor } }),
    placeholderData: keepPreviousData,
  })
  return (
    <ListPage
      title="Postbacks"
      words="Each rule sends one postback to its address for every matching conversion, and retries if it fails."
      what="rules"
      filters={
        <>
          <CampaignChoice campaign={search.campaign} onChange={campaign => narrow({ campaign })} />
          <SourceChoice source={traffic_source_id} onChange={source => narrow({ source })} />
          <SaveCsv
            endpoint={exportPostbackRules}
            picked={{ filter: { campaign_id, traffic_source_id, event_type } }}
            name="postbacks"
          />
        </>
      }
      query={rules}
      address={address}
      empty={{ icon: Webhook, words: 'Report conversions to the traffic source or another tracker as they come in.' }}
      add={{
        endpoint: createPostbackRule,
        words: 'New rule',
        // The source filter, if set, prefills the rule from the source's template.
        dialog: dialog => <PostbackDialog rule={undefined} source={source} {...dialog} />,
      }}
    >
      {rows => (
        <>
          {rows.map(rule => rule.switched_off_at !== null && <SwitchedOff key={rule.id} rule={rule} />)}
          <WithActs
            endpoint={changePostbacks}
            what="rules"
            acts={ACTS}
            filter={{ campaign_id, traffic_source_id, event_type }}
            hasMore={cursor !== undefined || rules.data?.next_cursor !== null}
          >
            <RuleTable rules={rows} />
          </WithActs>
        </>
      )}
    </ListPage>
  )
}

/** A rule that Sluice has switched off, with a button to switch it on again. */
function SwitchedOff({ rule }: { rule: RuleRow }) {
  const refresh = useRefresh()
  const { role } = useActive()
  const on = useMutation({
    mutationFn: () => call(updatePostbackRule, { params: { id: rule.id }, body: { active: true } }),
    onSuccess: async () => {
      await refresh(listPostbackRules)
      notify('The rule is on', 'You can resend its skipped deliveries from Deliveries.')
    },
  })
  return (
    <div className="mb-3">
      <Note kind="warning">
        <div className="flex flex-wrap items-center gap-3">
          <span className="min-w-0 flex-1 break-words">
            <strong>Sluice has switched off the rule for {inWords(rule.event_type)}</strong> to{' '}
            {URL.parse(rule.url)?.host ?? rule.url}
            {rule.switched_off_at !== null && ` on ${day(rule.switched_off_at)}`}: {rule.switched_off_reason}.
          </span>
          <Button
            size="sm"
            pending={on.isPending}
            reason={reasonAgainst(updatePostbackRule, role)}
            onClick={() => on.mutate()}
          >
            Switch on again
          </Button>
        </div>
        <RefusalNote refused={on.error} />
      </Note>
    </div>
  )
}

function RuleState({ rule }: { rule: RuleRow }) {
  if (rule.active) return <Badge tone="good">Active</Badge>
  if (rule.switched_off_at === null) return <Badge tone="warn">Off</Badge>
  return (
    <Badge tone="bad" {...(rule.switched_off_reason === null ? {} : { title: rule.switched_off_reason })}>
      Switched off
    </Badge>
  )
}

function RuleTable({ rules }: { rules: readonly RuleRow[] }) {
  return (
    <Table caption="Postback rules">
      <thead>
        <tr>
          <Head stay>
            <SelectPage />
            Conversion
          </Head>
          <Head>State</Head>
          <Head>Campaign</Head>
          <Head>Method</Head>
          <Head>Address</Head>
          <Head>Created</Head>
          <ActionHead />
        </tr>
      </thead>
      <tbody>
        {rules.map(rule => (
          <RuleLine key={rule.id} rule={rule} />
        ))}
      </tbody>
    </Table>
  )
}

function RuleLine({ rule }: { rule: RuleRow }) {
  const nameOf = useCampaignNames([rule.campaign_id])
  const source = useSource(rule.traffic_source_id ?? undefined)
  const [editing, setEditing] = useState(false)
  return (
    <Row>
      <RowHead stay>
        <SelectBox id={rule.id} name={inWords(rule.event_type)} />
        <OpenName onOpen={() => setEditing(true)}>{inWords(rule.event_type)}</OpenName>
      </RowHead>
      <Cell>
        <RuleState rule={rule} />
      </Cell>
      <Cell className="max-w-52 truncate">
        {source === undefined ? (nameOf(rule.campaign_id) ?? 'All campaigns') : `Clicks from ${source.name}`}
      </Cell>
      <Cell>
        {rule.method}
        {rule.on !== 'recorded' && (
          <span className="text-ink-faint">, when {CALLED_ON_WORDS[rule.on].toLowerCase()}</span>
        )}
        {rule.once_per_person && <span className="text-ink-faint">, first conversion per person only</span>}
      </Cell>
      <Cell className="max-w-96 truncate font-mono text-sm" title={rule.url}>
        {rule.url}
      </Cell>
      <Cell>{day(rule.created_at)}</Cell>
      <ActionCell>
        <RuleMenu rule={rule} onEdit={() => setEditing(true)} />
        <PostbackDialog rule={rule} open={editing} onClose={() => setEditing(false)} />
      </ActionCell>
    </Row>
  )
}

function RuleMenu({ rule, onEdit }: { rule: RuleRow; onEdit: () => void }) {
  const navigate = useNavigate()
  const confirm = useConfirm()
  const { role } = useActive()
  const [opened, setOpened] = useState<'test' | 'backfill'>()
  const close = () => setOpened(undefined)
  const name = `the rule for ${inWords(rule.event_type)}`
  const reason = reasonAgainst(updatePostbackRule, role)
  const confirmSwitch = () =>
    confirm({
      title: rule.active ? `Switch ${name} off?` : `Switch ${name} on?`,
      words: rule.active ? 'It sends no postbacks for new conversions.' : 'It sends postbacks for new conversions.',
      action: rule.active ? 'Switch off' : 'Switch on',
      look: 'primary',
      deed: () => call(updatePostbackRule, { params: { id: rule.id }, body: { active: !rule.active } }),
      refresh: [listPostbackRules],
      news: rule.active ? 'The rule is off' : 'The rule is on',
    })
  const confirmDelete = () =>
    confirm({
      title: `Delete ${name}?`,
      words: 'Its waiting deliveries are skipped.',
      action: 'Delete rule',
      deed: () => call(deletePostbackRule, { params: { id: rule.id } }),
      refresh: [listPostbackRules],
      news: 'The rule is deleted',
    })
  return (
    <>
      <RowMenu name={name}>
        <MenuItem icon={Pencil} onSelect={onEdit}>
          Edit
        </MenuItem>
        <CloneItem id={rule.id} endpoint={createPostbackRule} />
        <HistoryItem kind="postback" id={rule.id} />
        <MenuItem icon={rule.active ? CirclePause : CirclePlay} reason={reason} onSelect={confirmSwitch}>
          {rule.active ? 'Switch off' : 'Switch on'}
        </MenuItem>
        <MenuItem icon={FlaskConical} reason={reasonAgainst(testPostbackRule, role)} onSelect={() => setOpened('test')}>
          Test postback…
        </MenuItem>
        <MenuItem
          icon={History}
          reason={reasonAgainst(backfillPostbackRule, role) ?? (rule.active ? undefined : 'The rule is off.')}
          onSelect={() => setOpened('backfill')}
        >
          Run over past conversions…
        </MenuItem>
        <MenuItem icon={Send} onSelect={() => void navigate({ to: '/deliveries', search: { target: rule.id } })}>
          Deliveries
        </MenuItem>
        <MenuLine />
        <MenuItem icon={Trash2} danger reason={reasonAgainst(deletePostbackRule, role)} onSelect={confirmDelete}>
          Delete
        </MenuItem>
      </RowMenu>
      <TestFireDialog rule={rule} open={opened === 'test'} onClose={close} />
      <RunDialog
        open={opened === 'backfill'}
        onClose={close}
        title="Run over past conversions"
        words={`Sends one postback of ${name} for each past conversion that had none yet.`}
        what="conversions without a postback of this rule"
        plan={body => call(backfillPostbackRule, { params: { id: rule.id }, body })}
      />
    </>
  )
}
