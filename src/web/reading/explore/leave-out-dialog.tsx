/** Leaves rows of the report out of a campaign's traffic: the chosen row, and others of its branch. */
import { useMutation } from '@tanstack/react-query'
import { SPEND_KEY } from '../../../contract/explore.ts'
import type { ExploreDimension } from '../../../contract/explore-dimensions.ts'
import { LEFT_OUT_FIELDS, leaveOutInMany, listLeftOut } from '../../../traffic/left-out/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { useCampaignNames, useCampaigns } from '../../ground/campaign-choice.tsx'
import { count, moneyOrNone } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm } from '../../ground/ui/dialog.tsx'
import { type DraftFields, submits, useRequestDraft } from '../../ground/ui/draft.ts'
import { Checkbox, SelectField } from '../../ground/ui/field.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import {
  DetailFields,
  detailsOf,
  type DetailValues,
  type LeftOutField,
  NO_DETAILS,
} from '../../traffic/left-out/fields.tsx'
import type { Chosen } from './chosen.ts'
import { DIMENSION_WORDS, keyInWords } from './dimensions.ts'
import type { AnswerRow } from './question.ts'
import { type ExploreSearch, levelsOf, onlyCampaign } from './search.ts'

/** Whether values of this level of the report can be left out. */
export const isLeftOutField = (level: ExploreDimension): level is ExploreDimension & LeftOutField =>
  (LEFT_OUT_FIELDS as readonly string[]).includes(level)

type Props = { chosen: Chosen; search: ExploreSearch; onClose: () => void }
type Values = DetailValues & { campaign: string; keys: string[] }

/** The campaign of a row: a level above it, or the only campaign of the filters. */
function campaignOf({ path }: Chosen, search: ExploreSearch): string | undefined {
  const above = path[levelsOf(search).indexOf('campaign')]
  return above ?? onlyCampaign(search)
}

export function LeaveOutDialog(props: Props) {
  return (
    <Dialog
      open
      onClose={props.onClose}
      width="wide"
      title="Leave out of a campaign"
      description="Applies from the next click. Such clicks are still counted and paid for: exclude the values at the source too."
    >
      <LeaveOutForm {...props} />
    </Dialog>
  )
}

function LeaveOutForm({ chosen, search, onClose }: Props) {
  const { role } = useActive()
  const refresh = useRefresh()
  const nameOf = useCampaignNames()
  const [level, field] = levelIn(chosen, search)
  const known = campaignOf(chosen, search)
  const form = useRequestDraft({
    schema: leaveOutInMany.body,
    values: { campaign: known ?? '', keys: [chosen.path.at(-1) ?? ''], ...NO_DETAILS } as Values,
    requestOf: ({ campaign, keys, ...details }) => ({
      entries: keys.map(value => ({ campaign_id: campaign, field, value })),
      ...detailsOf(details),
    }),
    fieldOf: path => (path[2] === 'campaign_id' ? 'campaign' : path[0] === 'entries' ? 'keys' : String(path[0])),
  })
  const deed = useMutation({
    mutationFn: (body: Parameters<typeof call<typeof leaveOutInMany>>[1]['body']) => call(leaveOutInMany, { body }),
    onSuccess: async ({ added, same }) => {
      await refresh(listLeftOut)
      onClose()
      notify(
        added === 1 ? 'One value is left out' : `${count(added)} values are left out`,
        `${same === 0 ? '' : `${count(same)} were left out already. `}The page of the campaign lists them; its history can put this back.`,
      )
    },
  })
  const keys = form.watch('keys')
  const isWider = levelsOf(search)
    .slice(0, chosen.path.length - 1)
    .some(one => one !== 'campaign')
  return (
    <DialogForm onSubmit={submits(form, draft => deed.mutate(draft))}>
      <DialogBody>
        {known === undefined ? (
          <SelectField
            label="Campaign"
            error={form.formState.errors.campaign && 'Choose a campaign.'}
            {...form.register('campaign')}
          >
            <CampaignOptions />
          </SelectField>
        ) : (
          <p>
            Campaign <strong>{nameOf(known)}</strong>
          </p>
        )}
        <RowChoice
          level={level}
          rows={chosen.siblings}
          keys={keys}
          onChange={next => form.setValue('keys', next, { shouldDirty: true })}
        />
        {isWider && <Note>{`The values are left out of the whole campaign, not only of the row above.`}</Note>}
        <DetailFields form={form as unknown as DraftFields<DetailValues>} />
        <RefusalNote refused={deed.error} />
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          look="primary"
          pending={deed.isPending}
          reason={keys.length === 0 ? 'Choose a value.' : reasonAgainst(leaveOutInMany, role)}
        >
          {`Leave out (${keys.length})`}
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}

function levelIn({ path }: Chosen, search: ExploreSearch): [level: ExploreDimension, field: LeftOutField] {
  const level = levelsOf(search)[path.length - 1]
  if (level === undefined || !isLeftOutField(level)) throw new Error('values of this level cannot be left out')
  return [level, level]
}

function CampaignOptions() {
  const campaigns = useCampaigns()
  return (
    <>
      <option value="">Choose a campaign</option>
      {campaigns.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </>
  )
}

type RowChoiceProps = {
  level: ExploreDimension
  rows: readonly AnswerRow[]
  keys: readonly string[]
  onChange: (keys: string[]) => void
}

/** The rows of the branch with their figures, each with a box. */
function RowChoice({ level, rows, keys, onChange }: RowChoiceProps) {
  const offered = rows.filter(({ key }) => key !== null && key !== SPEND_KEY)
  return (
    <Table caption="Values to leave out" className="max-h-64">
      <thead>
        <tr>
          <Head stay>{DIMENSION_WORDS[level]}</Head>
          <Head numeric>Clicks</Head>
          <Head numeric>Cost</Head>
          <Head numeric>Revenue</Head>
          <Head numeric>Profit</Head>
        </tr>
      </thead>
      <tbody>
        {offered.map(({ key, label, clicks, cost, revenue, profit }) => (
          <Row key={key}>
            <RowHead stay className="max-w-64 truncate">
              <Checkbox
                label={keyInWords(level, key, label)}
                checked={key !== null && keys.includes(key)}
                onChange={event =>
                  onChange(event.target.checked ? [...keys, key ?? ''] : keys.filter(one => one !== key))
                }
              />
            </RowHead>
            <Cell numeric>{clicks === undefined ? '—' : count(clicks)}</Cell>
            <Cell numeric>{moneyOrNone(cost ?? undefined)}</Cell>
            <Cell numeric>{moneyOrNone(revenue)}</Cell>
            <Cell numeric>{moneyOrNone(profit ?? undefined)}</Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}
