/** The controls for days, campaign and goal. Their values are in the address. */
import { useState } from 'react'
import { CampaignChoice } from '../campaign-choice.tsx'
import { useChosenTypes, useGoalWords } from './goals.ts'
import { inWords } from '../rungs.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm } from '../ui/dialog.tsx'
import { Checkbox, SelectField, TextField } from '../ui/field.tsx'
import { isUtc, zoneWords } from '../zone.ts'
import { day } from './figures.ts'
import type { Goal, OverviewSearch } from './search.ts'
import {
  type Days,
  daysIn,
  isTooWide,
  LONG_RANGES,
  type LongRange,
  RANGE_WORDS,
  RANGES,
  type Range,
  WIDEST_DAYS,
} from './window.ts'

type ControlsProps = { search: OverviewSearch; days: Days; today: string; onChange: (changes: OverviewSearch) => void }

export function WindowControls({ search, days, today, onChange }: ControlsProps) {
  return (
    <>
      <CampaignChoice campaign={search.campaign} onChange={campaign => onChange({ campaign })} />
      <GoalChoice
        goal={search.goal}
        pending={search.pending}
        {...(search.campaign === undefined ? {} : { campaign: search.campaign })}
        onChange={onChange}
      />
      <DaysChoice search={search} days={days} today={today} onChange={onChange} />
    </>
  )
}

type GoalProps = {
  goal: Goal | undefined
  pending: true | undefined
  campaign?: string
  /** Offers event types only, not clicks that landed. */
  isOfEvents?: true
  onChange: (changes: { goal?: Goal | undefined; pending?: true | undefined }) => void
}

/** Which conversions Conversions, CR and CPA count. */
export function GoalChoice({ goal, pending, campaign, isOfEvents, onChange }: GoalProps) {
  const own = useGoalWords('own', campaign)
  const types = useChosenTypes(goal)
  const unnamed = campaign === undefined ? 'each campaign’s own' : 'what its offers pay for'
  return (
    <>
      <SelectField
        label="Conversion"
        hideLabel
        toolbar
        className="min-w-36 flex-1 sm:flex-none"
        value={goal ?? 'own'}
        onChange={event => onChange({ goal: event.target.value === 'own' ? undefined : (event.target.value as Goal) })}
      >
        <option value="own">{`Goal: ${own === 'Conversions' ? unnamed : own}`}</option>
        <optgroup label="The same for all campaigns">
          {[...(isOfEvents === true ? [] : (['landed'] as const)), ...types].map(one => (
            <option key={one} value={one}>
              {`Goal: ${inWords(one)}`}
            </option>
          ))}
        </optgroup>
      </SelectField>
      <CountPending pending={pending} onChange={pending => onChange({ pending })} />
    </>
  )
}

/** Whether conversions on hold count as approved. */
function CountPending({
  pending,
  onChange,
}: {
  pending: true | undefined
  onChange: (pending: true | undefined) => void
}) {
  return (
    <Checkbox
      className="h-8 items-center! pointer-coarse:h-10"
      label="Count pending"
      title="Conversions, CR and CPA count approved conversions. Tick to count conversions on hold too."
      checked={pending === true}
      onChange={({ target }) => onChange(target.checked ? true : undefined)}
    />
  )
}

type DaysSearch<R extends LongRange> = {
  range?: R | undefined
  from?: string | undefined
  to?: string | undefined
}
type DaysProps<R extends LongRange> = {
  search: DaysSearch<R>
  days: Days
  today: string
  /** For data booked by UTC day. */
  areUtc?: boolean
  onChange: (changes: DaysSearch<R>) => void
}

/** The days of a page: a preset, or first and last day. */
export const DaysChoice = (props: DaysProps<Range>) => <ChoiceOfDays {...props} ranges={RANGES} widest={WIDEST_DAYS} />

/** The same for a page that covers up to `widest` days. */
export const LongDaysChoice = (props: DaysProps<LongRange> & { widest: number }) => (
  <ChoiceOfDays {...props} ranges={LONG_RANGES} />
)

type ChoiceProps<R extends LongRange> = DaysProps<R> & { ranges: readonly R[]; widest: number }

function ChoiceOfDays<R extends LongRange>(props: ChoiceProps<R>) {
  const { search, days, today, areUtc = isUtc(), ranges, widest, onChange } = props
  const [choosing, setChoosing] = useState(false)
  const own = search.from !== undefined && search.to !== undefined
  return (
    <>
      <SelectField
        label="Days"
        hideLabel
        toolbar
        className="min-w-36 flex-1 sm:w-52 sm:flex-none"
        value={own ? 'own' : (search.range ?? '7d')}
        onChange={event => {
          const range = event.target.value
          if (range === 'choose' || range === 'own') setChoosing(true)
          else onChange({ range: range === '7d' ? undefined : (range as R), from: undefined, to: undefined })
        }}
      >
        {own && <option value="own">{`${day(days.from)} – ${day(days.to)}`}</option>}
        {ranges.map(range => (
          <option key={range} value={range}>
            {RANGE_WORDS[range]}
          </option>
        ))}
        <option value="choose">Choose days…</option>
      </SelectField>
      <Dialog
        open={choosing}
        onClose={() => setChoosing(false)}
        title="Choose days"
        description={`First and last day (${areUtc ? 'UTC' : zoneWords()}), up to ${widest} days.`}
      >
        <DaysForm
          days={days}
          today={today}
          widest={widest}
          onClose={() => setChoosing(false)}
          onChoose={chosen => {
            setChoosing(false)
            onChange({ ...chosen, range: undefined })
          }}
        />
      </Dialog>
    </>
  )
}

function DaysForm({
  days,
  today,
  widest,
  onChoose,
  onClose,
}: {
  days: Days
  today: string
  widest: number
  onChoose: (days: Days) => void
  onClose: () => void
}) {
  const [from, setFrom] = useState(days.from)
  const [to, setTo] = useState(days.to)
  const wrong =
    from === '' || to === ''
      ? 'Fill in both days.'
      : from > to
        ? 'The first day is after the last.'
        : daysIn({ from, to }) > widest || isTooWide({ from, to }, widest)
          ? daysIn({ from, to }) > widest
            ? `That is ${daysIn({ from, to })} days; a report covers at most ${widest}.`
            : `One of these ${widest} days has 25 hours, so they are too long for a report. Choose one day less.`
          : undefined
  return (
    <DialogForm
      onSubmit={() => {
        if (wrong === undefined) onChoose({ from, to })
      }}
    >
      <DialogBody>
        <div className="grid grid-cols-2 gap-3">
          <TextField
            type="date"
            label="First day"
            value={from}
            max={today}
            onChange={event => setFrom(event.target.value)}
          />
          <TextField
            type="date"
            label="Last day"
            value={to}
            max={today}
            onChange={event => setTo(event.target.value)}
          />
        </div>
        <p aria-live="polite" className="min-h-5 text-bad">
          {wrong}
        </p>
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" reason={wrong}>
          Show
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}
