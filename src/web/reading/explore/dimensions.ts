/** The names of dimensions and their keys, and the order in which menus offer them. */
import {
  type ExploreDimension,
  isObjectDimension,
  isTextDimension,
  isTimeDimension,
  TIME_DIMENSIONS,
} from '../../../contract/explore-dimensions.ts'
import { SUBS } from '../../../contract/fields.ts'
import { country, day } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'

export const DIMENSION_WORDS: Readonly<Record<ExploreDimension, string>> = {
  day: 'Day',
  hour: 'Hour',
  weekday: 'Weekday',
  weekday_hour: 'Hour of the week',
  campaign: 'Campaign',
  offer: 'Offer',
  landing: 'Landing',
  source: 'Source',
  funnel: 'Funnel',
  ad_account: 'Ad account',
  bot: 'Bot',
  path: 'Flow path',
  geo: 'Country',
  device: 'Device',
  os: 'OS',
  browser: 'Browser',
  platform: 'Platform',
  ...(Object.fromEntries(SUBS.map(sub => [sub, sub])) as Record<(typeof SUBS)[number], string>),
  ref_id: 'Source’s click id',
  is_new: 'New or returning',
  status: 'Status',
}

type Offered = { readonly title: string; readonly dimensions: readonly ExploreDimension[] }

/** The groups of dimensions in menus, most used first. */
export const OFFERED: readonly Offered[] = [
  { title: 'Traffic', dimensions: ['campaign', 'source', 'offer', 'landing', 'funnel', 'path'] },
  { title: 'Visitor', dimensions: ['geo', 'device', 'os', 'browser', 'platform', 'is_new', 'status'] },
  { title: 'From the link', dimensions: [...SUBS, 'ref_id'] },
  { title: 'Time', dimensions: TIME_DIMENSIONS },
  { title: 'Other', dimensions: ['ad_account', 'bot'] },
]

export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const
const weekday = (key: string): string => WEEKDAYS[Number(key) - 1] ?? key

/** The name of a key; `label` is the server's, such as the name of an object. */
export function keyInWords(dimension: ExploreDimension, key: string | null, label: string): string {
  if (key === null || key === '') return label
  if (isObjectDimension(dimension)) return label
  if (isTimeDimension(dimension)) return timeInWords(dimension, key)
  if (dimension === 'geo') return country(key)
  if (dimension === 'status') return inWords(key)
  if (dimension === 'is_new') return key === 'true' ? 'New visitors' : 'Returning visitors'
  return isTextDimension(dimension) ? label : key
}

function timeInWords(dimension: (typeof TIME_DIMENSIONS)[number], key: string): string {
  if (dimension === 'day') return day(key)
  if (dimension === 'hour') return `${key}:00`
  if (dimension === 'weekday') return weekday(key)
  const [on = '', hour = ''] = key.split('-')
  return `${weekday(on)} ${hour}:00`
}
