/**
 * Takes in a file of spend: all of its lines or none, but those that are left out by number, so that a file that was put right can be
 * sent again whole.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Call } from '../../contract/endpoint.ts'
import { toUuid } from '../../contract/ids.ts'
import { refuse } from '../../contract/refusals.ts'
import { cut, TEXT_BYTES } from '../../contract/texts.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { Context } from '../../ground/room.ts'
import { fromMillionths, toMillionths } from '../billing/money.ts'
import { inDollars } from '../rates/exact.ts'
import { unknownRate } from '../rates/rate-of-day.ts'
import { dollarsOf, futureWarnings } from './ad-spend.ts'
import type * as api from './api.ts'
import { type Line, readSpendFile, unreadable, type WrongLine } from './spend-file.ts'

const MOST_NAMED = 10

/**
 * Says what becomes of each line and, unless it is a dry run, does it in one transaction. Refuses `spend_file_unreadable` for a file as a
 * whole, though a dry run of one whose titles can be read tells its `problem` beside them; `spend_lines_wrong` with the numbers of the lines, `object_not_found` for a `campaign_id` that is not the organization's.
 */
export async function importAdSpend(
  context: Context<typeof api.importAdSpend>,
  { body }: Call<typeof api.importAdSpend>,
) {
  const { db, actor } = context
  const { org_id } = actor
  const { lines, titles, columns, problem } = readSpendFile(body)
  if (problem !== null && !body.dry_run) return unreadable(problem)
  const find = await campaignFinder(db, org_id, body.campaign_id ?? undefined)
  const passedOver = new Set(body.leave_out)
  const meant = lines.filter(({ line }) => !passedOver.has(line))
  const named = await priced(
    context,
    meant.map(line => ('error' in line ? line : nameCampaign(line, find))),
  )
  return db.transaction().execute(async trx => {
    const lines = named.filter(isNamed)
    if (!body.dry_run) await holdCampaigns(trx, org_id, lines)
    const before = await readSpend(trx, org_id, lines)
    const told = tellFates(named, before)
    const wrong = told.filter(({ fate }) => fate === 'wrong')
    if (wrong.length > 0 && !body.dry_run) refuseLines(wrong)
    const rows = rowsToChange(told, lines)
    const changed = body.dry_run ? rows : await change(trx, org_id, rows)
    const total = told.reduce((sum, { amount }) => sum + toMillionths(amount ?? '0'), 0n)
    return {
      dry_run: body.dry_run,
      titles: [...titles],
      columns: { ...columns },
      problem,
      lines: told,
      wrong: wrong.length,
      changed: changed.length,
      total: fromMillionths(total),
      warnings: futureWarnings(
        told.flatMap(({ fate, day, amount }) => (fate === 'wrong' || day === null || amount === null ? [] : [day])),
        Date.now(),
      ),
    }
  })
}

type Campaign = { id: string; name: string; key: string; deleted_at: string | null }
type Find = (text: string) => Campaign | WrongLine['error']

/** Finds a campaign by what a file calls it: its id, its key, or its name; a living one before deleted ones of that name. */
async function campaignFinder(db: Kysely<Tables>, org_id: number, usual: string | undefined): Promise<Find> {
  const { rows } = await sql<Campaign>`
    select id, name, key, deleted_at from campaigns where org_id = ${org_id} order by id`.execute(db)
  const by = (of: (one: Campaign) => string) => Map.groupBy(rows, of)
  const [ids, keys, names] = [by(({ id }) => id), by(({ key }) => key), by(({ name }) => name.trim().toLowerCase())]
  const [unnamed] = usual === undefined ? [] : (ids.get(usual) ?? [])
  if (usual !== undefined && unnamed === undefined) refuse('object_not_found')
  return text => {
    if (text === '') return unnamed ?? 'it names no campaign'
    const [exact] = [...(ids.get(toUuid(text) ?? '') ?? []), ...(keys.get(text.toLowerCase()) ?? [])]
    if (exact !== undefined) return exact
    const called = names.get(text.toLowerCase()) ?? []
    const living = called.filter(({ deleted_at }) => deleted_at === null)
    const [only, ...others] = living.length > 0 ? living : called
    if (only === undefined) return `there is no campaign “${text.slice(0, 80)}”`
    if (others.length === 0) return only
    return `${others.length + 1} campaigns are called “${only.name}”: name it by its key, such as ${only.key}`
  }
}

/** A line whose campaign is known; once it is priced, its amount is in dollars. */
type Named = Omit<Line, 'campaign'> & { readonly campaign: Campaign; readonly original: Money | null }
type Money = NonNullable<api.SpendLine['original']>

const isNamed = (line: Named | WrongLine): line is Named => !('error' in line)

function nameCampaign(line: Line, find: Find): Named | WrongLine {
  const campaign = find(line.campaign)
  if (typeof campaign === 'string') return { line: line.line, error: campaign }
  return { ...line, campaign, sub1: cut(line.sub1, TEXT_BYTES), original: null }
}

/** The lines in dollars, each by the rate of its day; one whose currency has none is wrong. */
async function priced(
  context: Context<typeof api.importAdSpend>,
  lines: readonly (Named | WrongLine)[],
): Promise<(Named | WrongLine)[]> {
  const amounts = lines.flatMap(line =>
    isNamed(line) && line.amount !== null
      ? [{ currency: line.currency, day: line.day, amount: line.amount, line }]
      : [],
  )
  const dollars = await dollarsOf(context, amounts)
  const byLine = new Map(amounts.map(({ line }, at) => [line, dollars[at]]))
  return lines.map(line => {
    if (!isNamed(line) || line.amount === null) return line
    const money = byLine.get(line)
    if (money !== undefined) return { ...line, ...money }
    return { line: line.line, error: `${unknownRate(line).message}: set an own rate in Settings, Rates` }
  })
}

const placeOf = (campaign_id: string, day: string, sub1: string) => `${day} ${campaign_id} ${sub1}`

/**
 * Imports that name the same campaigns go one after another. Their rows alone could not be held: what another import adds meanwhile is not
 * there yet to wait for, so that two of them could wait for each other.
 */
async function holdCampaigns(trx: Transaction<Tables>, org_id: number, lines: readonly Named[]): Promise<void> {
  await sql`
    select 1 from campaigns
    where org_id = ${org_id} and id = any(${[...new Set(lines.map(({ campaign }) => campaign.id))]}::uuid[])
    order by id
    for no key update`.execute(trx)
}

/** What is recorded where the lines point: amounts by place. */
async function readSpend(
  trx: Transaction<Tables>,
  org_id: number,
  lines: readonly Named[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ campaign_id: string; day: string; sub1: string; amount: string }>`
    select s.campaign_id, s.day, s.sub1, s.amount
    from ad_spend s
    where s.org_id = ${org_id} and (s.day, s.campaign_id, s.sub1) in (
      select day, campaign_id, sub1
      from unnest(${lines.map(({ day }) => day)}::date[], ${lines.map(({ campaign }) => campaign.id)}::uuid[],
        ${lines.map(({ sub1 }) => sub1)}::text[]) as meant (day, campaign_id, sub1))`.execute(trx)
  return new Map(rows.map(({ campaign_id, day, sub1, amount }) => [placeOf(campaign_id, day, sub1), amount]))
}

/** The lines of one campaign, day and sub1, in the order of the file. */
type Together = {
  readonly lines: readonly [Named, ...Named[]]
  readonly sum: string | null
  readonly original: Money | null
}

function togetherOf(lines: readonly Named[]): Map<string, Together> {
  const placed = Map.groupBy(lines, ({ campaign, day, sub1 }) => placeOf(campaign.id, day, sub1))
  // Added up once for each place: a file of ads may hold thousands of lines of one day.
  return new Map(
    [...placed].map(([place, lines]) => {
      const isEmpty = lines.every(({ amount }) => amount === null)
      const original = isEmpty ? null : originalOf(lines)
      const dollars =
        original === null ? fromMillionths(sumOf(lines)) : inDollars(original.original_amount, original.usd_per_unit)
      return [place, { lines: lines as [Named, ...Named[]], sum: isEmpty ? null : dollars, original }]
    }),
  )
}

/** What becomes of each line. The first line of a place tells what the place becomes, the others add to it. */
function tellFates(lines: readonly (Named | WrongLine)[], before: ReadonlyMap<string, string>): api.SpendLine[] {
  const placed = togetherOf(lines.filter(isNamed))
  return lines.map(line => {
    if (!isNamed(line)) return wrongLine(line)
    const place = placeOf(line.campaign.id, line.day, line.sub1)
    const { lines: together, sum } = placed.get(place) ?? { lines: [line], sum: line.amount }
    const [first, second] = together
    if (line.amount === null && second !== undefined) {
      const other = first === line ? second : first
      return wrongLine({
        line: line.line,
        error: `it has no amount, and line ${other.line} is of the same campaign, day and sub1`,
      })
    }
    const was = before.get(place) ?? null
    const isFirst = first === line
    return {
      line: line.line,
      fate: isFirst ? fateOf(was, sum) : ('added' as const),
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

/** What lines of one currency come to in it, so that what is kept is exactly that by the rate; null for dollars, and for several currencies. */
function originalOf(lines: readonly Named[]): Money | null {
  const [first] = lines
  if (first?.original == null) return null
  const { currency } = first.original
  if (lines.some(({ original }) => original?.currency !== currency)) return null
  const sum = lines.reduce((all, { original }) => all + toMillionths(original?.original_amount ?? '0'), 0n)
  return { ...first.original, original_amount: fromMillionths(sum) }
}

const sumOf = (lines: readonly Named[]) => lines.reduce((sum, { amount }) => sum + toMillionths(amount ?? '0'), 0n)

function fateOf(before: string | null, becomes: string | null): api.SpendLine['fate'] {
  if (becomes === null) return before === null ? 'nothing' : 'deletes'
  if (before === null) return 'new'
  return toMillionths(before) === toMillionths(becomes) ? 'same' : 'replaces'
}

function wrongLine({ line, error }: WrongLine): api.SpendLine {
  const unknown = { campaign_id: null, campaign_name: null, day: null, sub1: null, amount: null, original: null }
  return { line, fate: 'wrong', ...unknown, before: null, becomes: null, added_to: null, error }
}

function refuseLines(wrong: readonly api.SpendLine[]): never {
  const named = wrong.slice(0, MOST_NAMED).map(({ line, error }) => `line ${line}: ${error}`)
  const more = wrong.length > named.length ? `; and ${wrong.length - named.length} more` : ''
  return refuse('spend_lines_wrong', { error: `${named.join('; ')}${more}` })
}

type Change = { campaign_id: string; day: string; sub1: string; amount: string | null; original: Money | null }

function rowsToChange(told: readonly api.SpendLine[], lines: readonly Named[]): Change[] {
  const placed = togetherOf(lines)
  return told.flatMap(({ fate, campaign_id, day, sub1, becomes }) =>
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
            original: placed.get(placeOf(campaign_id, day, sub1))?.original ?? null,
          },
        ]
      : [],
  )
}

async function change(trx: Transaction<Tables>, org_id: number, rows: readonly Change[]): Promise<readonly Change[]> {
  const columns = (of: readonly Change[]) => ({
    days: of.map(({ day }) => day),
    campaigns: of.map(({ campaign_id }) => campaign_id),
    subs: of.map(({ sub1 }) => sub1),
  })
  const gone = columns(rows.filter(({ amount }) => amount === null))
  await sql`
    delete from ad_spend
    where org_id = ${org_id} and (day, campaign_id, sub1) in (
      select * from unnest(${gone.days}::date[], ${gone.campaigns}::uuid[], ${gone.subs}::text[]))`.execute(trx)
  const kept = rows.filter(({ amount }) => amount !== null)
  const { days, campaigns, subs } = columns(kept)
  const of = (name: keyof Money) => kept.map(({ original }) => original?.[name] ?? null)
  await sql`
    insert into ad_spend (org_id, campaign_id, day, sub1, amount, original_amount, currency, usd_per_unit, rate_day, rate_source,
      source, updated_at)
    select ${org_id}::int, campaign_id, day, sub1, amount, original_amount, currency, usd_per_unit, rate_day, rate_source,
      'manual', ${new Date().toISOString()}::timestamptz
    from unnest(${days}::date[], ${campaigns}::uuid[], ${subs}::text[], ${kept.map(({ amount }) => amount)}::numeric[],
      ${of('original_amount')}::numeric[], ${of('currency')}::text[], ${of('usd_per_unit')}::numeric[], ${of('rate_day')}::date[],
      ${of('rate_source')}::text[])
      as meant (day, campaign_id, sub1, amount, original_amount, currency, usd_per_unit, rate_day, rate_source)
    on conflict (org_id, day, campaign_id, sub1)
      do update set amount = excluded.amount, source = excluded.source, updated_at = excluded.updated_at,
        original_amount = excluded.original_amount, currency = excluded.currency, usd_per_unit = excluded.usd_per_unit,
        rate_day = excluded.rate_day, rate_source = excluded.rate_source`.execute(trx)
  return rows
}
