/** The history in words: kinds, fields, values, and who acted. */
import { HISTORY_KINDS, type HistoryKind } from '../../../contract/history.ts'
import { NONE } from '../figures/figures.ts'
import { inWords } from '../rungs.ts'

/** Words that are not those of the kind's name. */
const WORDS: Partial<Record<HistoryKind, string>> = {
  postback: 'Postback rule',
  left_out: 'Left-out value',
  split_test: 'Split test',
  ad_spend: 'Spend',
  spread: 'Spread amount',
  rate: 'Own rate',
  event: 'Conversion',
  organization: 'Workspace',
  api_key: 'API key',
  view: 'Saved view',
}

export const KIND_OPTIONS: readonly HistoryKind[] = HISTORY_KINDS

export const kindInWords = (kind: HistoryKind): string => WORDS[kind] ?? inWords(kind)

/** A value on one line. */
export function valueInWords(value: unknown): string {
  if (value === null || value === undefined || value === '') return NONE
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return JSON.stringify(value)
}

type Actor = {
  kind: 'person' | 'key' | 'sluice'
  name: string | null
  tool: string | null
  host: { name: string; version: string } | null
  because: 'rule' | 'schedule' | 'account_sync' | null
}

const BECAUSE = { rule: 'a rule', schedule: 'a schedule', account_sync: 'an account sync' } as const

/** Who acted, such as "Ann", or "key Buying, by Claude Desktop 1.2". */
export function actorInWords({ kind, name, host, because }: Actor): string {
  if (kind === 'sluice') return `Sluice${because === null ? '' : `, by ${BECAUSE[because]}`}`
  if (kind === 'person') return name ?? 'a person who left'
  return `key ${name ?? ''}${host === null ? '' : `, by ${host.name} ${host.version}`}`.trim()
}
