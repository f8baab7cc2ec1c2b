/**
 * Imports a spend file: all lines or none, except those left out by number. Lines replace what is recorded, so a corrected file can be sent
 * again as a whole.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { toUuid } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { cut, TEXT_BYTES } from '../../contract/texts.ts'
import type { Tables } from '../../ground/db/tables.ts'
import { lockHistory, recordChanges } from '../../ground/history/record.ts'
import type { Context } from '../../ground/room.ts'
import { fromMillionths, toMillionths } from '../billing/money.ts'
import { inDollars } from '../rates/exact.ts'
import { unknownRate } from '../rates/rate-of-day.ts'
import { spendInDollars, futureWarnings } from './ad-spend.ts'
import { type OriginalAmount, type SpendChange, writeSpend } from './cells.ts'
import { spendChange, spendObject } from './history.ts'
import type * as api from './api.ts'
import { type FileLine, readSpendFile, refuseFile, type WrongFileLine } from './spend-file.ts'

const MOST_NAMED = 10

/**
 * Computes the result of each line and, unless it is a dry run, applies all in one transaction. Refuses `spend_file_unreadable` for a file that
 * cannot be imported at all (a dry run with readable titles returns it as `problem` instead), `spend_lines_wrong` with the wrong lines, and
 * `object_not_found` for a `campaign_id` of another organization.
 */
export async function importAdSpend(
  context: Context<typeof api.importAdSpend>,
  { body }: Call<typeof api.importAdSpend>,
) {
  const { db, actor } = context
  const { org_id } = actor
  const { lines, titles, columns, problem } = readSpendFile(body)
  if (problem !== null && !body.dry_run) return refuseFile(problem)
  const find = await openCampaignFinder(db, org_id, body.campaign_id ?? undefined)
  const passedOver = new Set(body.leave_out)
  const chosen = lines.filter(({ line }) => !passedOver.has(line))
  const named = await convertLines(
    context,
    chosen.map(line => ('error' in line ? line : nameCampaign(line, find))),
  )
  return db.transaction().execute(async trx => {
    const lines = named.filter(isNamedLine)
    if (!body.dry_run) {
      await lockHistory(
        trx,
        org_id,
        lines.map(({ campaign, day, sub1 }) => spendObject({ campaign_id: campaign.id, day, sub1 })),
      )
      await lockCampaigns(trx, org_id, lines)
    }
    const before = await readSpend(trx, org_id, lines)
    const results = resultsOf(named, before)
    const wrong = results.filter(({ fate }) => fate === 'wrong')
    if (wrong.length > 0 && !body.dry_run) refuseLines(wrong)
    const rows = changesOf(results, lines)
    const changed = body.dry_run ? rows : await writeSpend(trx, org_id, rows)
    if (!body.dry_run) await recordChanges(trx, org_id, context.act, spendChanges(rows, before))
    const total = results.reduce((sum, { amount }) => sum + toMillionths(amount ?? '0'), 0n)
    return {
      dry_run: body.dry_run,
      titles: [...titles],
      columns: { ...columns },
      problem,
      lines: results,
      wrong: wrong.length,
      changed: changed.length,
      total: fromMillionths(total),
      warnings: futureWarnings(
        results.flatMap(({ fate, day, amount }) => (fate === 'wrong' || day === null || amount === null ? [] : [day])),
        Date.now(),
      ),
    }
  })
}

type Campaign = { id: string; name: string; key: string; deleted_at: string | null }
type FindCampaign = (text: string) => Campaign | WrongFileLine['error']

/** Finds a campaign by its id, key or name in a file. Of the campaigns with a name, one that is not deleted comes first. */
async function openCampaignFinder(
  db: Kysely<Tables>,
  org_id: number,
  usual: string | undefined,
): Promise<FindCampaign> {
  const { rows } = await sql<Campaign>`
    select id, name, key, deleted_at from campaigns where org_id = ${org_id} order by id`.execute(db)
  const by = (of: (one: Campaign) => string) => Map.groupBy(rows, of)
  const [ids, keys, names] = [by(({ id }) => id), by(({ key }) => key), by(({ name }) => name.trim().toLowerCase())]
  const [unnamed] = usual === undefined ? [] : (ids.get(usual) ?? [])
  if (usual !== undefined && unnamed === undefined) refuse('object_not_found')
  return text => {
    if (text === '') return unnamed ?? 'it has no campaign'
    const [exact] = [...(ids.get(toUuid(text) ?? '') ?? []), ...(keys.get(text.toLowerCase()) ?? [])]
    if (exact !== undefined) return exact
    const called = names.get(text.toLowerCase()) ?? []
    const living = called.filter(({ deleted_at }) => deleted_at === null)
    const [only, ...others] = living.length > 0 ? living : called
    if (only === undefined) return `there is no campaign “${text.slice(0, 80)}”`
    if (others.length === 0) return only
    return `${others.length + 1} campaigns are called “${only.name}”: use the key instead, such as ${only.key}`
  }
}

/** A line whose campaign was found. `convertLines` puts its amount into dollars. */
type NamedLine = Omit<FileLine, 'campaign'> & { readonly campaign: Campaign; readonly original: OriginalAmount | null }

const isNamedLine = (line: NamedLine | WrongFileLine): line is NamedLine => !('error' in line)

function nameCampaign(line: FileLine, find: FindCampaign): NamedLine | WrongFileLine {
  const campaign = find(line.campaign)
  if (typeof campaign === 'string') return { line: line.line, error: campaign }
  return { ...line, campaign, sub1: cut(line.sub1, TEXT_BYTES), original: null }
}

/** Converts the lines into dollars, each at the rate of its day. A line without a rate is wrong. */
async function convertLines(
  context: Context<typeof api.importAdSpend>,
  lines: readonly (NamedLine | WrongFileLine)[],
): Promise<(NamedLine | WrongFileLine)[]> {
  const amounts = lines.flatMap(line =>
    isNamedLine(line) && line.amount !== null
      ? [{ currency: line.currency, day: line.day, amount: line.amount, line }]
      : [],
  )
  const dollars = await spendInDollars(context, amounts)
  const byLine = new Map(amounts.map(({ line }, at) => [line, dollars[at]]))
  return lines.map(line => {
    if (!isNamedLine(line) || line.amount === null) return line
    const money = byLine.get(line)
    if (money !== undefined) return { ...line, ...money }
    return { line: line.line, error: `${unknownRate(line).message}: set an own rate in Settings, Rates` }
  })
}

const cellOf = (campaign_id: string, day: string, sub1: string) => `${day} ${campaign_id} ${sub1}`

/**
 * Locks the campaigns, so that imports for the same campaigns run one after another. Locking spend rows would not do: rows that the other
 * import is about to insert cannot be locked yet, and two imports could deadlock.
 */
async function lockCampaigns(trx: Transaction<Tables>, org_id: number, lines: readonly NamedLine[]): Promise<void> {
  await sql`
    select 1 from campaigns
    where org_id = ${org_id} and id = any(${[...new Set(lines.map(({ campaign }) => campaign.id))]}::uuid[])
    order by id
    for no key update`.execute(trx)
}

/** The amounts recorded for the cells of these lines, by cell. */
async function readSpend(
  trx: Transaction<Tables>,
  org_id: number,
  lines: readonly NamedLine[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ campaign_id: string; day: string; sub1: string; amount: string }>`
    select s.campaign_id, s.day, s.sub1, s.amount
    from ad_spend s
    where s.org_id = ${org_id} and (s.day, s.campaign_id, s.sub1) in (
      select day, campaign_id, sub1
      from unnest(${lines.map(({ day }) => day)}::date[], ${lines.map(({ campaign }) => campaign.id)}::uuid[],
        ${lines.map(({ sub1 }) => sub1)}::text[]) as chosen (day, campaign_id, sub1))`.execute(trx)
  return new Map(rows.map(({ campaign_id, day, sub1, amount }) => [cellOf(campaign_id, day, sub1), amount]))
}

/** The lines of one campaign, day and sub1, in the order of the file. */
type CellLines = {
  readonly lines: readonly [NamedLine, ...NamedLine[]]
  readonly sum: string | null
  readonly original: OriginalAmount | null
}

function linesByCell(lines: readonly NamedLine[]): Map<string, CellLines> {
  const byCell = Map.groupBy(lines, ({ campaign, day, sub1 }) => cellOf(campaign.id, day, sub1))
  // Added up once per cell: an export by ad may hold thousands of lines of one day.
  return new Map(
    [...byCell].map(([cell, lines]) => {
      const isEmpty = lines.every(({ amount }) => amount === null)
      const original = isEmpty ? null : originalOf(lines)
      const dollars =
        original === null ? fromMillionths(sumOf(lines)) : inDollars(original.original_amount, original.usd_per_unit)
      return [cell, { lines: lines as [NamedLine, ...NamedLine[]], sum: isEmpty ? null : dollars, original }]
    }),
  )
}

/** The result of each line. The first line of a cell carries the result of the cell, the others add to it. */
function resultsOf(
  lines: readonly (NamedLine | WrongFileLine)[],
  before: ReadonlyMap<string, string>,
): api.SpendLine[] {
  const byCell = linesByCell(lines.filter(isNamedLine))
  return lines.map(line => {
    if (!isNamedLine(line)) return wrongLine(line)
    const cell = cellOf(line.campaign.id, line.day, line.sub1)
    const { lines: together, sum } = byCell.get(cell) ?? { lines: [line], sum: line.amount }
    const [first, second] = together
    if (line.amount === null && second !== undefined) {
      const other = first === line ? second : first
      return wrongLine({
        line: line.line,
        error: `it has no amount, and line ${other.line} has the same campaign, day and sub1`,
      })
    }
    const was = before.get(cell) ?? null
    const isFirst = first === line
    return {
      line: line.line,
      fate: isFirst ? cellResult(was, sum) : ('added' as const),
      campaign_id: line.campaign.id,
      campaign_name: line.campaign.name,
      day: line.day,
      sub1: line.sub1,
      amount: line.amount,
      original: line.original,
      before: was,
      becomes: sum,
      added_to: isFirst ? null : first.line,
      error: null,
    }
  })
}

/** The sum of the lines in their common foreign currency, so that the stored dollars are exactly that sum times the rate. Null for dollars or several currencies. */
function originalOf(lines: readonly NamedLine[]): OriginalAmount | null {
  const [first] = lines
  if (first?.original == null) return null
  const { currency } = first.original
  if (lines.some(({ original }) => original?.currency !== currency)) return null
  const sum = lines.reduce((all, { original }) => all + toMillionths(original?.original_amount ?? '0'), 0n)
  return { ...first.original, original_amount: fromMillionths(sum) }
}

const sumOf = (lines: readonly NamedLine[]) => lines.reduce((sum, { amount }) => sum + toMillionths(amount ?? '0'), 0n)

function cellResult(before: string | null, becomes: string | null): api.SpendLine['fate'] {
  if (becomes === null) return before === null ? 'nothing' : 'deletes'
  if (before === null) return 'new'
  return toMillionths(before) === toMillionths(becomes) ? 'same' : 'replaces'
}

function wrongLine({ line, error }: WrongFileLine): api.SpendLine {
  const unknown = { campaign_id: null, campaign_name: null, day: null, sub1: null, amount: null, original: null }
  return { line, fate: 'wrong', ...unknown, before: null, becomes: null, added_to: null, error }
}

function refuseLines(wrong: readonly api.SpendLine[]): never {
  const named = wrong.slice(0, MOST_NAMED).map(({ line, error }) => `line ${line}: ${error}`)
  const more = wrong.length > named.length ? `; and ${wrong.length - named.length} more` : ''
  return refuse('spend_lines_wrong', { error: `${named.join('; ')}${more}` })
}

function changesOf(results: readonly api.SpendLine[], lines: readonly NamedLine[]): SpendChange[] {
  const byCell = linesByCell(lines)
  return results.flatMap(({ fate, campaign_id, day, sub1, becomes }) =>
    (fate === 'new' || fate === 'replaces' || fate === 'deletes') &&
    campaign_id !== null &&
    day !== null &&
    sub1 !== null
      ? [
          {
            campaign_id,
            day,
            sub1,
            amount: becomes,
            original: byCell.get(cellOf(campaign_id, day, sub1))?.original ?? null,
          },
        ]
      : [],
  )
}

/** What the history records of an import. */
const spendChanges = (rows: readonly SpendChange[], before: ReadonlyMap<string, string>) =>
  rows.map(({ campaign_id, day, sub1, amount, original }) =>
    spendChange({ campaign_id, day, sub1 }, before.get(cellOf(campaign_id, day, sub1)) ?? null, amount, original),
  )
