/**
 * The metrics that are read from the database and the disk when `/metrics` is asked: what waits there, and how large it is. Owns no table. Reads
 * `deliveries`, `failing_targets`, `counter_sheet`, `click_sheet`, `installation` and `fx_sources` on the pool of background work, so that redirects
 * never wait for it. All organizations are added up.
 */
import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Gauge } from 'prom-client'
import { timeOfId } from '../contract/ids.ts'
import { ARCHIVING_FAILS } from '../ground/db/archive.ts'
import type { Database } from '../ground/db/connect.ts'
import { type Among, askEverywhere } from '../ground/db/everywhere.ts'
import { LAST_BACKUP, LAST_RECONCILE, LAST_RECONCILE_WRONG } from '../ground/db/last-runs.ts'
import type { Ground } from '../ground/room.ts'

/** Several scrapers share a reading. */
const FRESH_MS = 5000
/** Readings take at most a tenth of the time, so that a long queue is not counted all the time. */
const PAUSE_PER_MS = 9
/** Scrapers wait ten seconds. After this time they get the last reading, so that the other metrics are answered while the database is away. */
const PATIENCE_MS = 1500

/** `amount` is a number of rows, `seconds` an age, `overdue` the age of the most overdue row, `first` the id of the first row. */
type WaitingRow = {
  readonly what: 'delivery' | 'paused' | 'folding' | 'sealing'
  readonly kind: string | null
  readonly amount: number
  readonly seconds: number | null
  readonly overdue: number | null
  readonly first: string | null
}

const WAITING = (among: Among) => `
  select 'delivery' as what, d.kind, count(*)::int as amount,
    extract(epoch from now() - min(d.created_at))::float8 as seconds,
    extract(epoch from now() - min(d.run_at) filter (where f.target_id is null and d.run_at <= now()))::float8 as overdue, null::text as first
  from deliveries d
  left join failing_targets f on f.org_id = d.org_id and f.kind = d.kind and f.target_id = d.target_id and f.paused_until is not null${among('f.org_id')}
  where d.state = 'pending'${among('d.org_id')}
  group by d.kind
  union all
  select 'paused', kind, count(*)::int, null, null, null
  from failing_targets where paused_until is not null${among('org_id')} group by kind
  union all
  select 'folding', null, count(*)::int, null, null, min(id::text) from counter_sheet where org_id > 0${among('org_id')}
  union all
  select 'sealing', null, count(*)::int, null, null, min(id::text) from click_sheet where org_id > 0${among('org_id')}`

type InstallationRow = {
  readonly bytes: number
  readonly kept: Readonly<Record<string, string>> | null
  readonly rates: Readonly<Record<string, number>> | null
  readonly archiving_fails: boolean | null
}

// Both parts stand in the from, because Citus refuses most sub-selects elsewhere.
const INSTALLATION = `
  select pg_database_size(current_database())::float8 as bytes, kept.list as kept, rates.list as rates, archiving_fails
  from (select json_object_agg(name, value) as list from installation where name = any($1)) kept
  cross join (
    select json_object_agg(source, extract(epoch from now() - fetched_at)) as list from fx_sources where fetched_at is not null
  ) rates
  cross join (${ARCHIVING_FAILS}) archiver`

type StoredFigures = {
  readonly waiting: readonly WaitingRow[]
  readonly installation: InstallationRow
}

type Disk = { readonly free: number; readonly size: number }

/** `read_at`: when `figures` were read; `next_at`: when they may be read again (performance clock, ms). */
type Reading = {
  figures?: StoredFigures
  read_at?: number
  disk?: Disk
  next_at: number
  underWay?: Promise<void> | undefined
}

const readings = new WeakMap<Database, Reading>()

const gauge = <Label extends string = never>(name: string, help: string, ...labelNames: Label[]) =>
  new Gauge({ name, help, labelNames })

const TARGETS = ['postback', 'ad_account'] as const
const deliveries = gauge('sluice_deliveries_waiting', 'Deliveries that wait, by kind', 'kind')
const oldest = gauge('sluice_deliveries_oldest_age_seconds', 'Time since the oldest waiting delivery was made', 'kind')
const overdue = gauge(
  'sluice_deliveries_overdue_seconds',
  'Time since the most overdue delivery was due, without those of paused targets',
  'kind',
)
const paused = gauge('sluice_delivery_targets_paused', 'Targets whose calls keep failing and are paused', 'kind')
const backlog = gauge('sluice_backlog_rows', 'Rows that wait, by work: folding, sealing', 'work')
const backlogAge = gauge('sluice_backlog_oldest_age_seconds', 'Age of the oldest row that waits, by work', 'work')
const ratesAge = gauge('sluice_rates_age_seconds', 'Time since exchange rates were last fetched, by source', 'source')
const size = gauge('sluice_database_size_bytes', 'Size of the database; of a cluster, on the node that answered')
const backup = gauge('sluice_last_backup_timestamp_seconds', 'When npm run backup last succeeded, as Unix time')
const reconciled = gauge('sluice_last_reconcile_timestamp_seconds', 'When npm run reconcile last ended, as Unix time')
const wrong = gauge('sluice_last_reconcile_wrong', 'Organizations whose counts differed at the last npm run reconcile')
const archiving = gauge(
  'sluice_log_archiving_failing',
  'Whether the last attempt to archive the log of PostgreSQL failed',
)
const age = gauge('sluice_stored_metrics_age_seconds', 'Time since the metrics of the database were read')
const free = gauge('sluice_data_dir_free_bytes', 'Free space on the disk of DATA_DIR')
const total = gauge('sluice_data_dir_size_bytes', 'Size of the disk of DATA_DIR')

/** Sets the metrics from a reading that is at most a few seconds old, or from the last one if the database does not answer soon. Never rejects. */
export async function refreshStored(ground: Pick<Ground, 'config' | 'database' | 'log'>): Promise<void> {
  const reading = readings.get(ground.database) ?? { next_at: Number.NEGATIVE_INFINITY }
  readings.set(ground.database, reading)
  if (performance.now() >= reading.next_at)
    reading.underWay ??= read(ground, reading).finally(() => (reading.underWay = undefined))
  await Promise.race([reading.underWay, sleep(PATIENCE_MS, undefined, { ref: false })])
  setFrom(reading)
}

async function read({ config, database, log }: Pick<Ground, 'config' | 'database' | 'log'>, reading: Reading) {
  const began = performance.now()
  let pause_ms = FRESH_MS
  const onDisk = statfs(config.dataDir).then(({ bavail, blocks, bsize }) => {
    reading.disk = { free: bavail * bsize, size: blocks * bsize }
  })
  try {
    const { rows: waiting } = await askEverywhere<WaitingRow>(database.worker, WAITING)
    const names = [[LAST_BACKUP, LAST_RECONCILE, LAST_RECONCILE_WRONG]]
    const { rows } = await database.worker.query<InstallationRow>(INSTALLATION, names)
    if (rows[0] !== undefined) Object.assign(reading, { figures: { waiting, installation: rows[0] }, read_at: began })
    pause_ms = Math.max(FRESH_MS, PAUSE_PER_MS * (performance.now() - began))
  } catch (error) {
    log.debug({ err: error }, 'could not read the metrics of the database')
  }
  await onDisk.catch(() => delete reading.disk)
  reading.next_at = performance.now() + pause_ms
}

function setFrom({ figures, read_at, disk }: Reading): void {
  for (const one of [deliveries, oldest, overdue, paused, backlog, backlogAge, ratesAge]) one.reset()
  for (const one of [size, backup, reconciled, wrong, archiving, age, free, total]) one.remove()
  if (disk !== undefined) {
    free.set(disk.free)
    total.set(disk.size)
  }
  if (figures === undefined || read_at === undefined) return
  age.set((performance.now() - read_at) / 1000)
  for (const kind of TARGETS) for (const one of [deliveries, oldest, overdue, paused]) one.set({ kind }, 0)
  for (const row of figures.waiting) setWaiting(row)
  const { bytes, kept, rates, archiving_fails } = figures.installation
  size.set(bytes)
  for (const [source, seconds] of Object.entries(rates ?? {})) ratesAge.set({ source }, seconds)
  setMoment(backup, kept?.[LAST_BACKUP])
  setMoment(reconciled, kept?.[LAST_RECONCILE])
  const differing = kept?.[LAST_RECONCILE_WRONG]
  if (differing !== undefined) wrong.set(Number(differing))
  if (archiving_fails !== null) archiving.set(Number(archiving_fails))
}

function setWaiting({ what, kind, amount, seconds, overdue: late, first }: WaitingRow): void {
  if (what === 'folding' || what === 'sealing') {
    backlog.set({ work: what }, amount)
    backlogAge.set({ work: what }, first === null ? 0 : Math.max(0, Date.now() - timeOfId(first)) / 1000)
    return
  }
  if (kind === null) return
  if (what === 'paused') return paused.set({ kind }, amount)
  deliveries.set({ kind }, amount)
  oldest.set({ kind }, seconds ?? 0)
  overdue.set({ kind }, late ?? 0)
}

function setMoment(moment: Gauge, at: string | undefined): void {
  if (at !== undefined) moment.set(Date.parse(at) / 1000)
}
