/** What one press breaks the report down by: the questions of every morning, zones and creatives by whichever sub the campaign's source gives them. */
import type { ExploreDimension } from '../../../contract/explore-dimensions.ts'
import { SUBS, type Sub } from '../../../contract/fields.ts'
import { byLevels, type ExploreSearch, levelsOf } from './search.ts'

/** What a source calls its subs. */
export type SubNames = Readonly<Partial<Record<Sub, string>>>

export type Preset = {
  readonly title: string
  /** Undefined: the source of the campaign says in no sub what this is. */
  readonly dimension: ExploreDimension | undefined
}

/** What sources call the place that an ad stood at, and the ad itself; the first that one of them has is meant. */
const PLACES = ['zone', 'placement', 'site', 'publisher', 'source', 'section', 'target', 'feed', 'widget', 'spot']
const ADS = ['creative', 'ad', 'banner', 'title']

/** "Zone id" and "Ad name" are a zone and an ad; a "Site type" is no site. */
const kindOf = (name: string): string => name.toLowerCase().replace(/ (id|name)$/, '')

function subOf(kinds: readonly string[], names: SubNames): Sub | undefined {
  for (const kind of kinds) {
    const sub = SUBS.find(one => kindOf(names[one] ?? '') === kind)
    if (sub !== undefined) return sub
  }
  return undefined
}

const isNamed = (names: SubNames): boolean => Object.keys(names).length > 0

/** Of several sources the sub that all mean which name it; of one that names nothing, or of sources that differ, `usual`. */
function subIn(kinds: readonly string[], sources: readonly SubNames[], usual: Sub): Sub | undefined {
  const [only, ...others] = sources.filter(isNamed)
  if (only !== undefined && others.length === 0) return subOf(kinds, only)
  const meant = new Set(sources.flatMap(names => subOf(kinds, names) ?? []))
  return meant.size === 1 ? [...meant][0] : usual
}

/** The presets over clicks of these sources; sub1 is what spend is booked by, so zones are looked for there where nobody says. */
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

/** The changes that break the same clicks down by one dimension alone. An order by names goes with the level it was chosen for. */
export function byPreset(dimension: ExploreDimension, search: ExploreSearch): Partial<ExploreSearch> {
  return {
    ...byLevels([dimension], { ...search, open: undefined }),
    view: undefined,
    ...(/^-?key$/.test(search.sort ?? '') && { sort: undefined }),
  }
}

/** Whether this is all that the rows are. */
export const isBy = (dimension: ExploreDimension | undefined, search: ExploreSearch): boolean =>
  search.view === undefined && levelsOf(search).join() === dimension

/** The order that has the largest losses first. */
export const WORST_FIRST = 'profit'
