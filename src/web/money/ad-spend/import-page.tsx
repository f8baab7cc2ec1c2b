/** Importing ad spend: choose a file, preview the result of each line, import it. */
import { useMutation } from '@tanstack/react-query'
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
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { SpendLines } from './import-lines.tsx'

type ImportRequest = z.input<(typeof importAdSpend)['body']>
type ImportChoices = Pick<ImportRequest, 'columns' | 'campaign_id' | 'currency' | 'date_order' | 'leave_out'>
type ImportPreview = z.input<(typeof importAdSpend)['reply']>

export function ImportPage() {
  const { role } = useActive()
  const [csv, setCsv] = useState<string>()
  const [choices, setChoices] = useState<ImportChoices>({})
  // The last preview stays visible while the next one is loading.
  const [previewed, setPreviewed] = useState<{ preview: ImportPreview; file: ImportRequest }>()
  const previewing = useMutation({
    mutationFn: (file: ImportRequest) => call(importAdSpend, { body: file }),
    onSuccess: (preview, file) => setPreviewed({ preview, file }),
    onError: () => setPreviewed(undefined),
  })
  const showPreview = (text: string, chosen: ImportChoices) => {
    setCsv(text)
    setChoices(chosen)
    previewing.mutate({ csv: text, ...chosen, dry_run: true })
  }
  return (
    <>
      <PageHeader
        title="Import ad spend"
        words="A CSV file exported from an ad platform or a spreadsheet. You see the result of each line before anything changes."
      >
        <Link to="/ad-spend" className={buttonLook('plain')}>
          Back to ad spend
        </Link>
      </PageHeader>
      <Section
        title="File"
        words="It needs a header line. Required columns: day, campaign (name, key or id) and amount. Optional: sub1 and currency."
      >
        <FileField
          reason={reasonAgainst(importAdSpend, role)}
          onRead={text => {
            if (text === '') return
            setPreviewed(undefined)
            showPreview(text, {})
          }}
        />
      </Section>
      {csv !== undefined && (
        <Section title="Columns and defaults">
          <ImportChoiceFields
            preview={previewed?.preview}
            choices={choices}
            onChange={chosen => showPreview(csv, { ...chosen, leave_out: null })}
          />
        </Section>
      )}
      <RefusalNote refused={previewing.error} className="mb-6" />
      <div aria-live="polite">
        {previewed?.preview.problem != null && (
          <RefusalNote refused={new Error(`the file cannot be imported: ${previewed.preview.problem}`)} />
        )}
        {csv !== undefined && previewed?.preview.problem === null && (
          <PreviewSection
            preview={previewed.preview}
            file={{ ...previewed.file, dry_run: false }}
            isPreviewing={previewing.isPending}
            onLeaveOut={leave_out => showPreview(csv, { ...choices, leave_out })}
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
    // Otherwise the browser would not report the same file when it is chosen again after a correction.
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

type ChoiceProps = {
  preview: ImportPreview | undefined
  choices: ImportChoices
  onChange: (choices: ImportChoices) => void
}

function ImportChoiceFields({ preview, choices, onChange }: ChoiceProps) {
  const campaigns = useCampaigns()
  return (
    <div className="grid gap-4 sm:grid-cols-3 lg:grid-cols-4">
      {ROLES.map(([role, label]) => (
        <SelectField
          key={role}
          label={label}
          value={choices.columns?.[role] ?? ''}
          disabled={preview === undefined}
          onChange={({ target }) =>
            onChange({ ...choices, columns: { ...choices.columns, [role]: target.value === '' ? null : target.value } })
          }
        >
          <option value="">{preview?.columns[role] == null ? 'None' : `${preview.columns[role]} (found)`}</option>
          {[...new Set(preview?.titles)]
            .filter(title => title !== '')
            .map(title => (
              <option key={title} value={title}>
                {title}
              </option>
            ))}
        </SelectField>
      ))}
      <SelectField
        label="Default campaign"
        value={choices.campaign_id ?? ''}
        onChange={({ target }) => onChange({ ...choices, campaign_id: target.value === '' ? null : target.value })}
      >
        <option value="">None</option>
        {campaigns.map(campaign => (
          <option key={campaign.id} value={campaign.id}>
            {campaign.name}
          </option>
        ))}
      </SelectField>
      <DefaultCurrency
        key={choices.currency ?? ''}
        currency={choices.currency ?? ''}
        onChange={currency => onChange({ ...choices, currency })}
      />
      <SelectField
        label="Dates with slashes"
        value={choices.date_order ?? ''}
        onChange={({ target }) => {
          const { value } = target
          onChange({ ...choices, date_order: value === 'month_first' || value === 'day_first' ? value : null })
        }}
      >
        <option value="">Refuse</option>
        <option value="month_first">Month first</option>
        <option value="day_first">Day first</option>
      </SelectField>
    </div>
  )
}

/** Refreshes the preview when the field loses focus, not at each letter. */
function DefaultCurrency({ currency, onChange }: { currency: string; onChange: (currency: string | null) => void }) {
  const take = (typed: string) => {
    const code = typed.trim().toUpperCase()
    if (code !== currency) onChange(code === '' ? null : code)
  }
  return (
    <CurrencyField
      label="Default currency"
      placeholder="USD"
      defaultValue={currency}
      onBlur={({ target }) => take(target.value)}
      onKeyDown={event => {
        if (event.key === 'Enter') take(event.currentTarget.value)
      }}
    />
  )
}

type PreviewProps = {
  preview: ImportPreview
  file: ImportRequest
  isPreviewing: boolean
  onLeaveOut: (lines: number[] | null) => void
}

function PreviewSection({ preview, file, isPreviewing, onLeaveOut }: PreviewProps) {
  const refresh = useRefresh()
  const navigate = useNavigate()
  const take = useMutation({
    mutationFn: () => call(importAdSpend, { body: file }),
    onSuccess: async ({ changed }) => {
      await refresh(listAdSpend)
      await navigate({ to: '/ad-spend' })
      notify('The spend is imported', `${count(changed)} ${changed === 1 ? 'row has' : 'rows have'} changed.`)
    },
  })
  const { lines, wrong, changed, total } = preview
  const reason =
    wrong > 0 ? 'Correct the wrong lines, or leave them out.' : changed === 0 ? 'Nothing would change.' : undefined
  return (
    <Section
      title="Lines"
      words={`${count(lines.length)} lines, $${exactMoney(total)} in total.`}
      aside={
        <Button look="primary" icon={FileUp} pending={take.isPending} reason={reason} onClick={() => take.mutate()}>
          {`Import ${count(changed)} ${changed === 1 ? 'change' : 'changes'}`}
        </Button>
      }
    >
      {preview.warnings.map(({ code, message }) => (
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
            Correct them and choose the file again, or leave them out. The other lines are imported together or not at
            all.
            <Button
              size="sm"
              className="mt-2 flex!"
              pending={isPreviewing}
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
      <LeftOutLines lines={file.leave_out ?? []} onInclude={() => onLeaveOut(null)} />
      <RefusalNote refused={take.error} className="mb-3" />
      <SpendLines lines={lines} />
    </Section>
  )
}

/** The most line numbers listed; nobody reads a longer list. */
const MOST_NUMBERS = 20

function LeftOutLines({ lines, onInclude }: { lines: readonly number[]; onInclude: () => void }) {
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
        <Button size="sm" className="mt-2 flex!" onClick={onInclude}>
          Include them again
        </Button>
      </Note>
    </div>
  )
}
