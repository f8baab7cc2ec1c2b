/**
 * The local copy of an organization's facts: a DuckDB table in DATA_DIR/explore/<organization>, four times as fast to read as the Parquet files it is
 * filled from. It may be lost at any time, because the database has everything: a question copies the segments that it finds missing. Each scanning
 * process has its own file.
 */
import { join } from 'node:path'
import type pg from 'pg'
import { type ExploreDimension, isObjectDimension, isTextDimension } from '../../contract/explore-dimensions.ts'
import { Refusal } from '../../contract/refusals.ts'
import { type TextColumn, TEXTS } from '../segments/facts.ts'
import { dayNumber, quoted } from './columns.ts'
import { openCopyFile, removeCopyFile } from './copy-file.ts'
import { type Ask, ScanFailed, FilesGone } from './engine.ts'
import type { Files } from './files.ts'
import { keepSheets, type KeptSheets, unsealedIn } from './kept-sheets.ts'
import { type CopyMarks, marksIn, type PricingLimits, priceClicks, unsettle } from './pricing.ts'
import type { LocalFacts } from './scan.ts'
import type { Segment, Snapshot } from './snapshot.ts'
import { FACT_COLUMNS, fromFiles } from './table.ts'
import { insertNumbered, learnWords, numberedBy, numberedIn, type WordLimits } from './words.ts'

/** The most rows copied in one turn, which takes less than a second and fits into memory. Then another workspace has its turn. */
const ROWS_AT_ONCE = 60_000
/** The most bytes of segments copied in one turn: twice what so many rows usually have. Rows with long, unique subs have far more. */
const BYTES_AT_ONCE = 16_000_000
/** After adding this many rows a copy is checkpointed, which makes it faster to read. */
const MANY_ROWS = 20_000

/** A copy that a process has open. */
type Copy = {
  readonly name: string
  readonly path: string
  /** The segments in it by id, with their numbers and days. */
  readonly segments: Map<string, { readonly number: number; readonly day: string }>
  next: number
  values: ReadonlyMap<string, number>
  /** The columns whose texts have numbers (words.ts). */
  readonly numbered: Set<TextColumn>
  /** The marks of the spend that its clicks were priced with. */
  readonly marks: CopyMarks
  /** The unsealed sheets whose facts are in it. */
  readonly kept: KeptSheets
}
/** The open copies of each process, by organization; the one used last comes last. */
const opened = new WeakMap<object, Map<number, Copy>>()
const MOST_OPENED = 8

type CopyPlace = { readonly folder: string; readonly org_id: number }

/** This process's copy of an organization. Opens it if it is not open. */
async function copyOf(ask: Ask, { folder, org_id }: CopyPlace): Promise<Copy> {
  const copies = opened.get(ask.process) ?? new Map<number, Copy>()
  opened.set(ask.process, copies)
  const copy = copies.get(org_id) ?? (await openCopy(ask, { folder, org_id }))
  copies.delete(org_id)
  copies.set(org_id, copy)
  for (const [other, { name }] of copies) {
    if (copies.size <= MOST_OPENED) break
    copies.delete(other)
    await ask(`detach ${name}`)
  }
  return copy
}

/** The unsealed sheets whose facts are in this process's copy. */
export const keptSheetsOf = (ask: Ask, org_id: number): KeptSheets =>
  opened.get(ask.process)?.get(org_id)?.kept ?? new Map()

async function openCopy(ask: Ask, { folder, org_id }: CopyPlace): Promise<Copy> {
  const name = nameOf(org_id)
  const path = await openCopyFile(ask, name, join(folder, String(org_id)))
  const rows = await ask(`select number, id, day from ${name}.segments`)
  const segments = new Map(
    rows.map(({ number, id, day }) => [String(id), { number: Number(number), day: String(day) }]),
  )
  const next = Math.max(0, ...[...segments.values()].map(({ number }) => number)) + 1
  const [values, numbered, marks] = [await valuesIn(ask, name), await numberedIn(ask, name), await marksIn(ask, name)]
  return { name, path, segments, next, values, numbered, marks, kept: new Map() }
}

/** Removes a copy that a question could not read. Its process ends with that question. */
export async function forgetCopy(process: object, org_id: number): Promise<void> {
  const copy = opened.get(process)?.get(org_id)
  opened.get(process)?.delete(org_id)
  if (copy !== undefined) await removeCopyFile(copy.path)
}

/** Roughly how many values each column has. */
async function valuesIn(ask: Ask, name: string): Promise<Map<string, number>> {
  const [row] = await ask(
    `select ${TEXTS.map(text => `stats(${text}) as ${text}`).join(', ')} from ${name}.facts limit 1`,
  )
  return new Map(
    TEXTS.map(text => {
      const estimate = /Approx Unique: (\d+)/.exec(String(row?.[text] ?? ''))?.[1]
      return [text, estimate === undefined ? Number.POSITIVE_INFINITY : Number(estimate) + 1]
    }),
  )
}

type FactSource = {
  readonly files: Files
  readonly reads: Pick<pg.Pool, 'query'>
  /** The text columns whose numbers the question needs. */
  readonly texts: readonly TextColumn[]
} & WordLimits &
  PricingLimits
type SnapshotOfDays = Snapshot & { readonly first: string; readonly last: string }
export type Lacking = 'gone' | 'more'

/**
 * Brings the local copy to the snapshot: adds missing segments and removes replaced ones. Returns 'more' if so much must be copied or priced that it must be
 * called again, and 'gone' if a segment has been replaced since the snapshot.
 */
export async function bringFacts(
  ask: Ask,
  from: FactSource,
  place: CopyPlace,
  snapshot: SnapshotOfDays,
): Promise<LocalFacts | Lacking> {
  try {
    return await bringNow(ask, from, place, snapshot)
  } catch (error) {
    // A copy that is only partly changed is rebuilt.
    if (error instanceof ScanFailed) throw new FilesGone(error.message)
    if (error instanceof Refusal) await closeCopy(ask, place.org_id)
    throw error
  }
}

/** Closes a copy after a refusal: its file is as before, but what is remembered of it may be of the transaction that failed. */
async function closeCopy(ask: Ask, org_id: number): Promise<void> {
  if (opened.get(ask.process)?.delete(org_id) !== true) return
  for (const sql of ['rollback', `detach ${nameOf(org_id)}`]) await ask(sql).catch(() => {})
}

/** The name of an organization's copy in DuckDB. */
const nameOf = (org_id: number) => `o${org_id}`

async function bringNow(
  ask: Ask,
  { files, reads, texts, most_words, priced_at_once }: FactSource,
  place: CopyPlace,
  snapshot: SnapshotOfDays,
): Promise<LocalFacts | Lacking> {
  const copy = await copyOf(ask, place)
  const hasUnsealed = await keepSheets(ask, copy, { files, org_id: place.org_id, texts, most_words }, snapshot)
  if (snapshot.isPart) return 'more'
  const wanted = new Set(snapshot.segments.map(({ id }) => id))
  const stale = [...copy.segments].filter(
    ([id, { day }]) => day >= snapshot.first && day <= snapshot.last && !wanted.has(id),
  )
  const missing = snapshot.segments.filter(({ id }) => !copy.segments.has(id))
  const portion = nextPortion(missing)
  if (stale.length > 0 || portion.length > 0) {
    const staged = await files.fetch(reads, place.org_id, portion, copy.next)
    if (staged === undefined) return 'gone'
    try {
      await changeCopy(ask, copy, { stale: stale.map(([id]) => id), portion, paths: staged.paths, most_words })
    } finally {
      await staged.drop()
    }
    if (portion.length < missing.length) return 'more'
  }
  const facts = factsIn(copy, snapshot, hasUnsealed)
  if (snapshot.spend === undefined) return facts
  const pricing = { reads, org_id: place.org_id, most_words, priced_at_once, spend: snapshot.spend }
  const days = { first: dayNumber(snapshot.first), last: dayNumber(snapshot.last) }
  const tail = hasUnsealed ? unsealedIn(copy.name) : undefined
  const priced = await priceClicks(ask, copy, { ...pricing, ...days, tail })
  return priced === 'more' ? 'more' : { ...facts, ...priced }
}

function factsIn(
  { name, values, numbered }: Copy,
  { ties, goals, emptied_before }: Snapshot,
  hasUnsealed: boolean,
): LocalFacts {
  return {
    from: hasUnsealed ? `(from ${name}.facts union all from ${unsealedIn(name)})` : `${name}.facts`,
    ties,
    goals,
    valuesOf: dimension => USUAL_VALUES[dimension] ?? values.get(valuesColumnOf(dimension)) ?? 1,
    numbered: dimension => numberedBy(name, numbered, dimension),
    unclicked: undefined,
    emptied_before,
  }
}

const USUAL_VALUES: Readonly<Partial<Record<ExploreDimension, number>>> = {
  hour: 24,
  weekday: 7,
  weekday_hour: 168,
  day: 366,
  is_new: 2,
  status: 7,
  way: 2,
  is_left_out: 2,
  // Roughly how many combinations of tags there are.
  tag: 50,
}
const valuesColumnOf = (dimension: ExploreDimension) =>
  isTextDimension(dimension) || (isObjectDimension(dimension) && dimension !== 'source' && dimension !== 'funnel')
    ? dimension
    : 'campaign'

type CopyChange = {
  readonly stale: readonly string[]
  readonly portion: readonly Segment[]
  readonly paths: readonly string[]
  readonly most_words: number
}

/** Removes stale segments from a copy and adds new ones, in one transaction. */
async function changeCopy(ask: Ask, copy: Copy, { stale, portion, paths, most_words }: CopyChange): Promise<void> {
  const { name, segments, numbered } = copy
  const numbers = stale.map(id => segments.get(id)?.number).join(', ')
  const added = portion.map(({ id, day }, at) => ({ id, day, number: copy.next + at }))
  await ask('begin')
  if (stale.length > 0) {
    await unsettle(ask, name, `(select d, campaign from ${name}.facts where s in (${numbers}))`)
    await ask(`delete from ${name}.facts where s in (${numbers})`)
    await ask(`delete from ${name}.segments where number in (${numbers})`)
  }
  if (added.length > 0) {
    await ask(
      `create or replace temp table brought as select s, ${FACT_COLUMNS} ${fromFiles(paths, "'d': INTEGER, 's': INTEGER")}`,
    )
    await learnWords(ask, name, 'brought', { numbered, most_words })
    await insertNumbered(ask, name, 'brought', numbered)
    await unsettle(ask, name, 'brought')
    await ask('drop table brought')
    const rows = added.map(({ number, id, day }) => `(${number}, ${quoted(id)}, ${quoted(day)})`)
    await ask(`insert into ${name}.segments values ${rows.join(', ')}`)
  }
  await ask('commit')
  for (const id of stale) segments.delete(id)
  for (const { id, ...rest } of added) segments.set(id, rest)
  copy.next += added.length
  if (portion.reduce((rows, segment) => rows + segment.rows, 0) >= MANY_ROWS) await ask(`checkpoint ${name}`)
  copy.values = await valuesIn(ask, name)
}

/** The segments to copy next: the first one of any size, and more up to `ROWS_AT_ONCE` and `BYTES_AT_ONCE`. */
function nextPortion(segments: readonly Segment[]): Segment[] {
  let [rows, bytes] = [0, 0]
  return segments.filter((segment, at) => {
    rows += segment.rows
    bytes += segment.bytes
    return at === 0 || (rows <= ROWS_AT_ONCE && bytes <= BYTES_AT_ONCE)
  })
}
