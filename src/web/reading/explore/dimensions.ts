/** The names of dimensions and their keys, and the order in which menus offer them. */
import {
  type ExploreDimension,
  isObjectDimension,
  isTextDimension,
  isTimeDimension,
  type TIME_DIMENSIONS,
} from '../../../contract/explore-dimensions.ts'
import { eachSub } from '../../../contract/fields.ts'
import { country, day } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'

/** By group, in the order of the menus, most used first. */
const GROUPS = {
  Traffic: {
    campaign: 'Campaign',
    source: 'Source',
    offer: 'Offer',
    landing: 'Landing',
    funnel: 'Funnel',
    tag: 'Tag',
    path: 'Flow path',
    way: 'Way',
    is_left_out: 'Left out',
  },
  Visitor: {
    geo: 'Country',
    device: 'Device',
    os: 'OS',
    browser: 'Browser',
    platform: 'Platform',
    is_new: 'New or returning',
    status: 'Status',
  },
  'From the link': { ...eachSub(sub => sub), ref_id: 'Source’s click id' },
  Time: { day: 'Day', hour: 'Hour', weekday: 'Weekday', weekday_hour: 'Hour of the week' },
  Other: { ad_account: 'Ad account', bot: 'Bot' },
} as const

export const DIMENSION_WORDS: Readonly<Record<ExploreDimension, string>> = {
  ...GROUPS.Traffic,
  ...GROUPS.Visitor,
  ...GROUPS['From the link'],
  ...GROUPS.Time,
  ...GROUPS.Other,
}

type Offered = { readonly title: string; readonly dimensions: readonly ExploreDimension[] }

export const OFFERED: readonly Offered[] = Object.entries(GROUPS).map(([title, words]) => ({
  title,
  dimensions: Object.keys(words) as ExploreDimension[],
}))

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
  return isTextDimension(dimension) || dimension === 'way' || dimension === 'is_left_out' ? label : key
}

function timeInWords(dimension: (typeof TIME_DIMENSIONS)[number], key: string): string {
  if (dimension === 'day') return day(key)
  if (dimension === 'hour') return `${key}:00`
  if (dimension === 'weekday') return weekday(key)
  const [on = '', hour = ''] = key.split('-')
  return `${weekday(on)} ${hour}:00`
}
