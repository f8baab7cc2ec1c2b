/** Importing ad spend from a file: choose it, see what becomes of each line, take it in. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { FileUp } from 'lucide-react'
import { type ChangeEvent, useState } from 'react'
import type { z } from 'zod'
import { importAdSpend, listAdSpend, type SpendLine } from '../../ad-spend/api.ts'
import { call } from '../call.ts'
import { useCampaigns } from '../campaigns/campaign-choice.tsx'
import { count, exactMoney, NONE } from '../figures.ts'
import { reasonAgainst, useActive } from '../organizations/active.ts'
import { Badge, type Tone } from '../ui/badge.tsx'
import { Button, buttonLook } from '../ui/button.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
import { PageHeader, Section } from '../ui/page.tsx'
import { Note, RefusalNote } from '../ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../ui/table.tsx'
import { notify } from '../ui/toast.tsx'

type File = z.input<(typeof importAdSpend)['body']>
type Choices = Pick<File, 'columns' | 'campaign_id' | 'date_order'>
type Looked = z.input<(typeof importAdSpend)['reply']>

export function ImportPage() {
  const { role } = useActive()
  const [csv, setCsv] = useState<string>()
  const [choices, setChoices] = useState<Choices>({})
  const look = useMutation({
    mutationFn: (file: File) => call(importAdSpend, { body: file }),
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
            if (text !== '') lookAt(text, {})
          }}
        />
      </Section>
      {csv !== undefined && (
        <Section title="How it is read">
          <ChoiceFields looked={look.data} choices={choices} onChange={chosen => lookAt(csv, chosen)} />
        </Section>
      )}
      <RefusalNote refused={look.error} className="mb-6" />
      <div aria-live="polite">
        {csv !== undefined && look.data !== undefined && (
          <Outcome looked={look.data} file={{ csv, ...choices, dry_run: false }} />
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
] as const

type ChoiceProps = { looked: Looked | undefined; choices: Choices; onChange: (choices: Choices) => void }

function ChoiceFields({ looked, choices, onChange }: ChoiceProps) {
  const campaigns = useCampaigns()
  return (
    <div className="grid gap-4 sm:grid-cols-3 lg:grid-cols-6">
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

function Outcome({ looked, file }: { looked: Looked; file: File }) {
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
  const reason = wrong > 0 ? 'Put the wrong lines right first.' : changed === 0 ? 'Nothing would change.' : undefined
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
      {wrong > 0 && (
        <div className="mb-3">
          <Note kind="warning">
            <strong>
              {count(wrong)} {wrong === 1 ? 'line is' : 'lines are'} wrong.
            </strong>{' '}
            A file goes in whole or not at all: put them right and choose the file again.
          </Note>
        </div>
      )}
      <RefusalNote refused={take.error} className="mb-3" />
      <Lines lines={lines} />
    </Section>
  )
}

/** So many are shown; the wrong ones first, because they are to be acted on. */
const MOST_SHOWN = 500

const FATES: Record<z.input<typeof SpendLine>['fate'], { words: string; tone: Tone }> = {
  new: { words: 'New', tone: 'good' },
  replaces: { words: 'Replaces', tone: 'accent' },
  same: { words: 'Same as before', tone: 'plain' },
  added: { words: 'Added up', tone: 'good' },
  deletes: { words: 'Deletes', tone: 'warn' },
  nothing: { words: 'Nothing to delete', tone: 'plain' },
  wrong: { words: 'Wrong', tone: 'bad' },
}

function Lines({ lines }: { lines: Looked['lines'] }) {
  const shown = lines
    .toSorted((one, other) => Number(other.fate === 'wrong') - Number(one.fate === 'wrong') || one.line - other.line)
    .slice(0, MOST_SHOWN)
  return (
    <>
      <Table caption="Lines of the file">
        <thead>
          <tr>
            <Head stay>Line</Head>
            <Head>What becomes of it</Head>
            <Head>Day</Head>
            <Head>Campaign</Head>
            <Head>sub1</Head>
            <Head numeric>Amount, $</Head>
            <Head numeric>Before, $</Head>
            <Head numeric>After, $</Head>
          </tr>
        </thead>
        <tbody>
          {shown.map(line => (
            <LineRow key={line.line} line={line} />
          ))}
        </tbody>
      </Table>
      {lines.length > shown.length && (
        <p className="mt-2 text-ink-faint">{count(lines.length - shown.length)} more lines are not shown.</p>
      )}
    </>
  )
}

const amountOf = (amount: string | null) => (amount === null ? NONE : exactMoney(amount))

function LineRow({ line }: { line: Looked['lines'][number] }) {
  const { words, tone } = FATES[line.fate]
  const outcome = (
    <>
      <Badge tone={tone}>{words}</Badge>
      {line.added_to !== null && <span className="ml-2 text-ink-faint">to line {line.added_to}</span>}
    </>
  )
  if (line.error !== null)
    return (
      <Row>
        <RowHead stay>{line.line}</RowHead>
        <Cell colSpan={7} className="whitespace-normal!">
          <Badge tone={tone}>{words}</Badge> <span className="ml-1">{line.error}</span>
        </Cell>
      </Row>
    )
  return (
    <Row>
      <RowHead stay>{line.line}</RowHead>
      <Cell>{outcome}</Cell>
      <Cell>{line.day}</Cell>
      <Cell className="max-w-60 truncate">{line.campaign_name}</Cell>
      <Cell faint={line.sub1 === ''} className="max-w-44 truncate">
        {line.sub1 === '' ? NONE : line.sub1}
      </Cell>
      <Cell numeric>{amountOf(line.amount)}</Cell>
      <Cell numeric faint={line.before === null}>
        {amountOf(line.before)}
      </Cell>
      <Cell numeric>{amountOf(line.becomes)}</Cell>
    </Row>
  )
}
