/** Ad spend: the cost of traffic by campaign and day, from which reports compute profit and ROI. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { FileUp, Receipt, RefreshCw, Split } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import { type AdSpend, AdSpendDraft, listAdSpend, recordAdSpend, spreadAdSpend } from '../../../money/ad-spend/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { CampaignChoice, useCampaignNames, useCampaigns } from '../../ground/campaign-choice.tsx'
import { ago, day, exactMoney, moment, NONE } from '../../ground/figures/figures.ts'
import { useNow } from '../../ground/figures/now.ts'
import { daysOf, utcBoundsOf } from '../../ground/figures/window.ts'
import { DaysChoice } from '../../ground/figures/window-controls.tsx'
import { CurrencyField, Original } from '../../ground/original.tsx'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { noneIfBlank, useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { AddButton, List, useListAddress } from '../../ground/ui/list.tsx'
import { EmptyState, PageHeader } from '../../ground/ui/page.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notifyDone } from '../../ground/ui/toast.tsx'
import { SpreadForm } from './spread-form.tsx'
import { SpreadsSection } from './spreads-section.tsx'

type SpendRow = z.input<typeof AdSpend>
type Draft = z.input<typeof AdSpendDraft>

const route = getRouteApi('/inside/ad-spend')

export function AdSpendPage() {
  const address = useListAddress(route.useSearch())
  const { search, narrow } = address
  const now = useNow()
  const { role } = useActive()
  const today = new Date(now).toISOString().slice(0, 10)
  const days = daysOf(search, today)
  const [draft, setDraft] = useState<Draft>()
  const [isSpreading, setSpreading] = useState(false)
  const spend = useQuery({
    ...ask(listAdSpend, { query: { ...utcBoundsOf(days), campaign_id: search.campaign, cursor: search.cursor } }),
    placeholderData: keepPreviousData,
  })
  const blank: Draft = { campaign_id: search.campaign ?? '', day: today, sub1: '', amount: '', currency: '' }
  return (
    <>
      <PageHeader
        title="Ad spend"
        words="In US dollars, by campaign and UTC day, and by sub1 where known. A later amount replaces an earlier one."
      >
        <CampaignChoice campaign={search.campaign} onChange={campaign => narrow({ campaign })} />
        <DaysChoice search={search} days={days} today={today} areUtc onChange={narrow} />
        <Link to="/ad-spend/accounts" className={buttonLook('plain')}>
          <RefreshCw aria-hidden className="size-4" />
          Spend accounts
        </Link>
        <Link to="/ad-spend/import" className={buttonLook('plain')}>
          <FileUp aria-hidden className="size-4" />
          Import
        </Link>
        <Button icon={Split} reason={reasonAgainst(spreadAdSpend, role)} onClick={() => setSpreading(true)}>
          Spread an amount
        </Button>
        <AddButton endpoint={recordAdSpend} onClick={() => setDraft(blank)}>
          Record spend
        </AddButton>
      </PageHeader>
      <List
        query={spend}
        address={address}
        what="spend"
        empty={
          <EmptyState
            icon={Receipt}
            title="No spend on these days"
            words="Record spend here, through the API or from a file, or connect an account. Reports then show cost, profit and ROI."
          />
        }
      >
        {rows => (
          <SpendTable
            rows={rows}
            onEdit={({ campaign_id, day: on, sub1, amount, original }) =>
              setDraft({
                campaign_id,
                day: on,
                sub1,
                amount: original?.original_amount ?? amount,
                currency: original?.currency ?? '',
              })
            }
          />
        )}
      </List>
      <SpreadsSection key={search.campaign} campaign={search.campaign} />
      <Dialog
        open={draft !== undefined}
        onClose={() => setDraft(undefined)}
        title="Record spend"
        description="An empty amount deletes the recorded spend."
      >
        {draft !== undefined && <SpendForm draft={draft} onClose={() => setDraft(undefined)} />}
      </Dialog>
      <Dialog
        open={isSpreading}
        onClose={() => setSpreading(false)}
        title="Spread an amount"
        description="Divides a campaign’s cost over its clicks in a time window, by UTC day and sub1."
      >
        {isSpreading && <SpreadForm campaign={search.campaign} now={now} onClose={() => setSpreading(false)} />}
      </Dialog>
    </>
  )
}

type SpendTableProps = { rows: readonly SpendRow[]; onEdit: (row: SpendRow) => void }

function SpendTable({ rows, onEdit }: SpendTableProps) {
  const { role } = useActive()
  const nameOf = useCampaignNames(rows.map(({ campaign_id }) => campaign_id))
  return (
    <Table caption="Ad spend">
      <thead>
        <tr>
          <Head stay>Day</Head>
          <Head numeric>Amount, $</Head>
          <Head>Campaign</Head>
          <Head>sub1</Head>
          <Head>Source</Head>
          <Head>Changed</Head>
          <ActionHead />
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <Row key={`${row.day} ${row.campaign_id} ${row.sub1}`}>
            <RowHead stay>{day(row.day)}</RowHead>
            <Cell numeric>
              {exactMoney(row.amount)}
              {row.original !== null && <br />}
              <Original money={row.original} />
            </Cell>
            <Cell className="max-w-60 truncate">{nameOf(row.campaign_id)}</Cell>
            <Cell faint={row.sub1 === ''} className="max-w-44 truncate">
              {row.sub1 === '' ? NONE : row.sub1}
            </Cell>
            <Cell>{row.source === 'api' ? 'API key' : 'Dashboard'}</Cell>
            <Cell title={moment(row.updated_at)}>{ago(row.updated_at)}</Cell>
            <ActionCell>
              <Button
                size="sm"
                look="quiet"
                reason={reasonAgainst(recordAdSpend, role)}
                aria-label={`Change the spend of ${nameOf(row.campaign_id)} on ${day(row.day)}`}
                onClick={() => onEdit(row)}
              >
                Change
              </Button>
              <DeleteSpend row={row} of={`${nameOf(row.campaign_id) ?? 'its campaign'} on ${day(row.day)}`} />
            </ActionCell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

function DeleteSpend({ row: { campaign_id, day: on, sub1, amount }, of }: { row: SpendRow; of: string }) {
  const { role } = useActive()
  const confirm = useConfirm()
  return (
    <Button
      size="sm"
      look="quiet"
      reason={reasonAgainst(recordAdSpend, role)}
      aria-label={`Delete the spend of ${of}`}
      onClick={() =>
        confirm({
          title: `Delete $${exactMoney(amount)}?`,
          words: `For ${sub1 === '' ? of : `${of}, sub1 ${sub1}`}. The cost it replaced, such as that of the clicks, counts again.`,
          action: 'Delete',
          look: 'danger',
          deed: () => call(recordAdSpend, { body: { campaign_id, day: on, sub1, amount: null } }),
          refresh: [listAdSpend],
          news: 'The spend is deleted',
        })
      }
    >
      Delete
    </Button>
  )
}

function SpendForm({ draft, onClose }: { draft: Draft; onClose: () => void }) {
  const campaigns = useCampaigns()
  const nameOf = useCampaignNames([draft.campaign_id || null])
  const form = useDraft<Draft>(AdSpendDraft, draft)
  const errors = form.formState.errors
  const isListed = campaigns.some(campaign => campaign.id === draft.campaign_id)
  return (
    <DraftForm
      form={form}
      action="Save spend"
      endpoint={recordAdSpend}
      deed={body => call(recordAdSpend, { body })}
      refresh={[listAdSpend]}
      onClose={onClose}
      onSaved={saved => notifyDone(saved.deleted ? 'The spend is deleted' : 'The spend is recorded', saved)}
    >
      <SelectField
        label="Campaign"
        error={errors.campaign_id?.message === undefined ? undefined : 'Choose a campaign.'}
        {...form.register('campaign_id')}
      >
        <option value="" disabled>
          Choose a campaign
        </option>
        {draft.campaign_id !== '' && !isListed && (
          <option value={draft.campaign_id}>{nameOf(draft.campaign_id)}</option>
        )}
        {campaigns.map(campaign => (
          <option key={campaign.id} value={campaign.id}>
            {campaign.name}
          </option>
        ))}
      </SelectField>
      <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)_6rem] gap-4">
        <TextField type="date" label="Day (UTC)" error={errors.day?.message} {...form.register('day')} />
        <TextField
          label={`Amount, ${form.watch('currency')?.toUpperCase() || '$'}`}
          inputMode="decimal"
          autoComplete="off"
          error={errors.amount?.message}
          {...form.register('amount')}
        />
        <CurrencyField
          label="Currency"
          placeholder="USD"
          error={errors.currency?.message}
          {...form.register('currency', noneIfBlank)}
        />
      </div>
      <TextField
        label="sub1"
        optional
        hint="Blank = whole campaign."
        autoComplete="off"
        error={errors.sub1?.message}
        {...form.register('sub1')}
      />
    </DraftForm>
  )
}
