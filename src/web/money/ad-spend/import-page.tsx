/** Importing ad spend from a file: choose it, see what becomes of each line, take it in. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { FileUp } from 'lucide-react'
import { type ChangeEvent, useState } from 'react'
import type { z } from 'zod'
import { importAdSpend, listAdSpend } from '../../../money/ad-spend/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { useCampaigns } from '../../ground/campaign-choice.tsx'
import { count, exactMoney } from '../../ground/figures/figures.ts'
import { CurrencyField } from '../../ground/original.tsx'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { PageHeader, Section } from '../../ground/ui/page.tsx'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { Lines } from './import-lines.tsx'

type File = z.input<(typeof importAdSpend)['body']>
type Choices = Pick<File, 'columns' | 'campaign_id' | 'currency' | 'date_order' | 'leave_out'>
type Looked = z.input<(typeof importAdSpend)['reply']>

export function ImportPage() {
  const { role } = useActive()
  const [csv, setCsv] = useState<string>()
  const [choices, setChoices] = useState<Choices>({})
  // The last answer stays in sight while the next one is on its way.
  const [answer, setAnswer] = useState<{ looked: Looked; file: File }>()
  const look = useMutation({
    mutationFn: (file: File) => call(importAdSpend, { body: file }),
    onSuccess: (looked, file) => setAnswer({ looked, file }),
    onError: () => setAnswer(undefined),
  })
  const lookAt = (text: string, chosen: Choices) => {
    setCsv(text)
    setChoices(chosen)
    look.mutate({ csv: text, ...chosen, dry_run: true })
  }
  return (
    <>
      <PageHeader
        title="Import ad spend"
        words="A CSV file as ad platforms and spreadsheets export it. You see what becomes of each line before anything changes."
      >
        <Link to="/ad-spend" className={buttonLook('plain')}>
          Back to ad spend
        </Link>
      </PageHeader>
      <Section
        title="File"
        words="It needs a line of titles: a day, a campaign (its name, key or id) and an amount; sub1 if you like."
      >
        <FileField
          reason={reasonAgainst(importAdSpend, role)}
          onRead={text => {
            if (text === '') return
            setAnswer(undefined)
            lookAt(text, {})
          }}
        />
      </Section>
      {csv !== undefined && (
        <Section title="How it is read">
          <ChoiceFields
            looked={answer?.looked}
            choices={choices}
            onChange={chosen => lookAt(csv, { ...chosen, leave_out: null })}
          />
        </Section>
      )}
      <RefusalNote refused={look.error} className="mb-6" />
      <div aria-live="polite">
        {answer?.looked.problem != null && (
          <RefusalNote refused={new Error(`the file cannot go in: ${answer.looked.problem}`)} />
        )}
        {csv !== undefined && answer?.looked.problem === null && (
          <Outcome
            looked={answer.looked}
            file={{ ...answer.file, dry_run: false }}
            isLooking={look.isPending}
            onLeaveOut={leave_out => lookAt(csv, { ...choices, leave_out })}
          />
        )}
      </div>
    </>
  )
}

function FileField({ reason, onRead }: { reason: string | undefined; onRead: (text: string) => void }) {
  const read = async (event: ChangeEvent<HTMLInputElement>) => {
    const [file] = event.target.files ?? []
    if (file !== undefined) onRead(decoded(new Uint8Array(await file.arrayBuffer())))
    // The same file can be chosen again once it was put right.
    event.target.value = ''
  }
  return (
    <TextField
      label="CSV file"
      hideLabel
      type="file"
      accept=".csv,.tsv,.txt,text/csv"
      disabled={reason !== undefined}
      hint={reason ?? 'Up to 5,000 lines. Commas, semicolons or tabs between the columns.'}
      className="max-w-md"
      onChange={event => void read(event)}
    />
  )
}

/** Some exports are UTF-16 and say so in their first two bytes. */
function decoded(bytes: Uint8Array): string {
  const isLittle = bytes[0] === 0xff && bytes[1] === 0xfe
  const isBig = bytes[0] === 0xfe && bytes[1] === 0xff
  return new TextDecoder(isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8').decode(bytes)
}

const ROLES = [
  ['day', 'Day'],
  ['campaign', 'Campaign'],
  ['sub1', 'sub1'],
  ['amount', 'Amount'],
  ['currency', 'Currency'],
] as const

type ChoiceProps = { looked: Looked | undefined; choices: Choices; onChange: (choices: Choices) => void }

function ChoiceFields({ looked, choices, onChange }: ChoiceProps) {
  const campaigns = useCampaigns()
  return (
    <div className="grid gap-4 sm:grid-cols-3 lg:grid-cols-4">
      {ROLES.map(([role, label]) => (
        <SelectField
          key={role}
          label={label}
          value={choices.columns?.[role] ?? ''}
          disabled={looked === undefined}
          onChange={({ target }) =>
            onChange({ ...choices, columns: { ...choices.columns, [role]: target.value === '' ? null : target.value } })
          }
        >
          <option value="">{looked?.columns[role] == null ? 'None' : `${looked.columns[role]} (found)`}</option>
          {[...new Set(looked?.titles)]
            .filter(title => title !== '')
            .map(title => (
              <option key={title} value={title}>
                {title}
              </option>
            ))}
        </SelectField>
      ))}
      <SelectField
        label="Unnamed lines are of"
        value={choices.campaign_id ?? ''}
        onChange={({ target }) => onChange({ ...choices, campaign_id: target.value === '' ? null : target.value })}
      >
        <option value="">No campaign</option>
        {campaigns.map(campaign => (
          <option key={campaign.id} value={campaign.id}>
            {campaign.name}
          </option>
        ))}
      </SelectField>
      <ChosenCurrency
        key={choices.currency ?? ''}
        currency={choices.currency ?? ''}
        onChange={currency => onChange({ ...choices, currency })}
      />
      <SelectField
        label="Days with slashes"
        value={choices.date_order ?? ''}
        onChange={({ target }) => {
          const { value } = target
          onChange({ ...choices, date_order: value === 'month_first' || value === 'day_first' ? value : null })
        }}
      >
        <option value="">Refuse them</option>
        <option value="month_first">Month first</option>
        <option value="day_first">Day first</option>
      </SelectField>
    </div>
  )
}

/** Asked again once it is left, not at each letter. */
function ChosenCurrency({ currency, onChange }: { currency: string; onChange: (currency: string | null) => void }) {
  const take = (typed: string) => {
    const code = typed.trim().toUpperCase()
    if (code !== currency) onChange(code === '' ? null : code)
  }
  return (
    <CurrencyField
      label="Lines that name none are in"
      placeholder="USD"
      defaultValue={currency}
      onBlur={({ target }) => take(target.value)}
      onKeyDown={event => {
        if (event.key === 'Enter') take(event.currentTarget.value)
      }}
    />
  )
}

type OutcomeProps = {
  looked: Looked
  file: File
  isLooking: boolean
  onLeaveOut: (lines: number[] | null) => void
}

function Outcome({ looked, file, isLooking, onLeaveOut }: OutcomeProps) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const take = useMutation({
    mutationFn: () => call(importAdSpend, { body: file }),
    onSuccess: async ({ changed }) => {
      await queries.invalidateQueries({ queryKey: [listAdSpend.route] })
      await navigate({ to: '/ad-spend' })
      notify('The spend is imported', `${count(changed)} ${changed === 1 ? 'row has' : 'rows have'} changed.`)
    },
  })
  const { lines, wrong, changed, total } = looked
  const reason =
    wrong > 0 ? 'Put the wrong lines right, or leave them out.' : changed === 0 ? 'Nothing would change.' : undefined
  return (
    <Section
      title="Lines"
      words={`${count(lines.length)} lines, ${exactMoney(total)} dollars in all.`}
      aside={
        <Button look="primary" icon={FileUp} pending={take.isPending} reason={reason} onClick={() => take.mutate()}>
          {`Import ${count(changed)} ${changed === 1 ? 'change' : 'changes'}`}
        </Button>
      }
    >
      {looked.warnings.map(({ code, message }) => (
        <div key={code} className="mb-3">
          <Note kind="warning">{message}</Note>
        </div>
      ))}
      {wrong > 0 && (
        <div className="mb-3">
          <Note kind="warning">
            <strong>
              {count(wrong)} {wrong === 1 ? 'line is' : 'lines are'} wrong.
            </strong>{' '}
            Put them right and choose the file again, or leave them out: the rest goes in whole or not at all.
            <Button
              size="sm"
              className="mt-2 flex!"
              pending={isLooking}
              onClick={() =>
                onLeaveOut([
                  ...(file.leave_out ?? []),
                  ...lines.filter(({ fate }) => fate === 'wrong').map(({ line }) => line),
                ])
              }
            >
              {wrong === 1 ? 'Leave out the wrong line' : `Leave out the ${count(wrong)} wrong lines`}
            </Button>
          </Note>
        </div>
      )}
      <LeftOut lines={file.leave_out ?? []} onTakeBack={() => onLeaveOut(null)} />
      <RefusalNote refused={take.error} className="mb-3" />
      <Lines lines={lines} />
    </Section>
  )
}

/** So many numbers tell which lines they are; more tell nothing. */
const MOST_NUMBERS = 20

function LeftOut({ lines, onTakeBack }: { lines: readonly number[]; onTakeBack: () => void }) {
  if (lines.length === 0) return null
  const numbers = lines.toSorted((one, other) => one - other).slice(0, MOST_NUMBERS)
  return (
    <div className="mb-3">
      <Note>
        <strong>
          {count(lines.length)} {lines.length === 1 ? 'line is' : 'lines are'} left out:
        </strong>{' '}
        {numbers.join(', ')}
        {lines.length > numbers.length && ` and ${count(lines.length - numbers.length)} more`}. Their spend is not in
        the amounts below.
        <Button size="sm" className="mt-2 flex!" onClick={onTakeBack}>
          Take them back in
        </Button>
      </Note>
    </div>
  )
}
