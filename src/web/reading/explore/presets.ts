/** The presets of the Report: one press breaks it down by a dimension. Zones and creatives are the subs that the campaign's source calls so. */
import type { ExploreDimension } from '../../../contract/explore-dimensions.ts'
import { SUBS, type Sub } from '../../../contract/fields.ts'
import { byLevels, type ExploreSearch, levelsOf } from './search.ts'

/** A source's names of its subs. */
export type SubNames = Readonly<Partial<Record<Sub, string>>>

export type Preset = {
  readonly title: string
  /** Undefined: no sub of the campaign's source has this. */
  readonly dimension: ExploreDimension | undefined
}

/** Names that sources use for the place of an ad, and for the ad itself. Earlier names take precedence. */
const PLACES = ['zone', 'placement', 'site', 'publisher', 'source', 'section', 'target', 'feed', 'widget', 'spot']
const ADS = ['creative', 'ad', 'banner', 'title']

/** "Zone id" and "Ad name" are a zone and an ad; a "Site type" is not a site. */
const kindOf = (name: string): string => name.toLowerCase().replace(/ (id|name)$/, '')

function subOf(kinds: readonly string[], names: SubNames): Sub | undefined {
  for (const kind of kinds) {
    const sub = SUBS.find(one => kindOf(names[one] ?? '') === kind)
    if (sub !== undefined) return sub
  }
  return undefined
}

const isNamed = (names: SubNames): boolean => Object.keys(names).length > 0

/** The sub of one source; for several sources the one on which all agree that name it; else `usual`. */
function subIn(kinds: readonly string[], sources: readonly SubNames[], usual: Sub): Sub | undefined {
  const [only, ...others] = sources.filter(isNamed)
  if (only !== undefined && others.length === 0) return subOf(kinds, only)
  const meant = new Set(sources.flatMap(names => subOf(kinds, names) ?? []))
  return meant.size === 1 ? [...meant][0] : usual
}

/** The presets for clicks of these sources. Zones are sub1 where no source says otherwise, because spend is booked by sub1. */
export const presetsOf = (sources: readonly SubNames[]): readonly Preset[] => [
  { title: 'Campaigns', dimension: 'campaign' },
  { title: 'Zones', dimension: subIn(PLACES, sources, 'sub1') },
  { title: 'Creatives', dimension: subIn(ADS, sources, 'sub2') },
  { title: 'Offers', dimension: 'offer' },
  { title: 'Landings', dimension: 'landing' },
  { title: 'Countries', dimension: 'geo' },
  { title: 'Devices', dimension: 'device' },
  { title: 'Hours', dimension: 'hour' },
  { title: 'Days', dimension: 'day' },
]

/** The changes that break the same clicks down by one dimension alone. An order by key is reset, because it was chosen for another level. */
export function byPreset(dimension: ExploreDimension, search: ExploreSearch): Partial<ExploreSearch> {
  return {
    ...byLevels([dimension], { ...search, open: undefined }),
    view: undefined,
    ...(/^-?key$/.test(search.sort ?? '') && { sort: undefined }),
  }
}

/** Whether the rows are by this dimension alone. */
export const isBy = (dimension: ExploreDimension | undefined, search: ExploreSearch): boolean =>
  search.view === undefined && levelsOf(search).join() === dimension

/** The order with the largest losses first. */
export const WORST_FIRST = 'profit'
