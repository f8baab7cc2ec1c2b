/** The menu of a row: filter by it, exclude it, break it down, show its clicks, and open its page. */
import { linkOptions, useNavigate } from '@tanstack/react-router'
import { ArrowUpRight, Ban, CircleMinus, ListFilter, MousePointerClick, Split } from 'lucide-react'
import { SPEND_KEY } from '../../../contract/explore.ts'
import type { ExploreDimension } from '../../../contract/explore-dimensions.ts'
import { useCampaigns } from '../../ground/campaign-choice.tsx'
import { MenuAt, MenuItem, MenuLine, SubMenu } from '../../ground/ui/menu.tsx'
import { useToday } from '../../ground/figures/now.ts'
import type { Chosen } from './chosen.ts'
import { clicksOf, DAYS_OF_LOG, daysOfLog } from './clicks-of.ts'
import { DIMENSION_WORDS } from './dimensions.ts'
import { isLeftOutField } from './leave-out-dialog.tsx'
import { useSourceNames } from './names.ts'
import { byPreset, presetsOf } from './presets.ts'
import { DimensionChoices, type Words } from './level-chips.tsx'
import {
  byFilter,
  byLevels,
  byOpening,
  type Change,
  type ExploreSearch,
  type Filter,
  isRowOpen,
  levelsOf,
  conditionsOf,
} from './search.ts'

const SPOKEN = new Intl.ListFormat('en', { type: 'disjunction' })

type CellMenuProps = {
  chosen: Chosen | undefined
  search: ExploreSearch
  words: Words
  onChange: Change
  onClose: () => void
  onLeaveOut: (chosen: Chosen) => void
}

/** The filter for a key, or (`isOut`) against it. */
function filterOf(dimension: ExploreDimension, key: string | null, isOut: boolean): Filter {
  if (key !== null) return [dimension, isOut ? 'is_not' : 'is', key]
  return conditionsOf(dimension).includes('is_empty')
    ? [dimension, isOut ? 'is_filled' : 'is_empty']
    : [dimension, isOut ? 'is_not' : 'is', '']
}

export function CellMenu({ chosen, onClose, ...rest }: CellMenuProps) {
  return (
    <MenuAt anchor={chosen?.anchor} onClose={onClose}>
      {chosen !== undefined && <Items chosen={chosen} {...rest} />}
    </MenuAt>
  )
}

function Items({
  chosen,
  search,
  words,
  onChange,
  onLeaveOut,
}: Omit<CellMenuProps, 'onClose' | 'chosen'> & { chosen: Chosen }) {
  const { path, name } = chosen
  const navigate = useNavigate()
  const levels = levelsOf(search)
  const at = path.length - 1
  const level = levels[at] as ExploreDimension
  const key = path[at] ?? null
  const place = key === null ? undefined : placeOf(level, key, name)
  const filters = path.flatMap((one, index) => {
    const dimension = levels[index]
    // Spend without clicks has no known value in this level.
    return dimension === undefined || one === SPEND_KEY ? [] : [filterOf(dimension, one, false)]
  })
  const flow = useFlowOf(level === 'campaign' || level === 'path' ? filters : [])
  const clicks = clicksOf([...(search.where ?? []), ...filters])
  const others = levels.slice(0, path.length)
  const { days: logged, isCut } = daysOfLog(search, useToday())
  const breakDown = (dimension: ExploreDimension) => {
    const changes = byLevels([...others, dimension], search)
    const next = { ...search, ...changes }
    onChange({ ...changes, ...(isRowOpen(next, path) ? {} : byOpening(next, path)) })
  }
  // All keys down to the row become filters.
  const only = filters.reduce((before, filter) => ({ ...before, ...byFilter(filter, before) }), search)
  const sourceNames = useSourceNames()
  const here = presetsOf(sourceNames(only.where ?? [])).flatMap(({ title, dimension }) =>
    dimension === undefined || others.includes(dimension) ? [] : [{ title, dimension }],
  )
  return (
    <>
      <p className="px-2 pt-1 pb-1.5 font-medium wrap-anywhere">{name}</p>
      {here.length > 0 && (
        <fieldset className="grid grid-cols-2 border-y border-line py-1">
          <legend className="sr-only">{`${name}, broken down by`}</legend>
          {here.map(({ title, dimension }) => (
            <MenuItem
              key={title}
              onSelect={() => onChange({ where: only.where, ...byPreset(dimension, { ...search, open: undefined }) })}
            >
              {title}
            </MenuItem>
          ))}
        </fieldset>
      )}
      <MenuItem
        icon={ListFilter}
        onSelect={() =>
          onChange({
            where: only.where,
            ...byLevels(levels.length > path.length ? levels.slice(path.length) : levels, {
              ...search,
              open: undefined,
            }),
          })
        }
      >
        Only this
      </MenuItem>
      <MenuItem icon={CircleMinus} onSelect={() => onChange(byFilter(filterOf(level, key, true), search))}>
        Not this
      </MenuItem>
      {key !== null && isLeftOutField(level) && (
        <MenuItem icon={Ban} onSelect={() => onLeaveOut(chosen)}>
          Leave out of its campaign …
        </MenuItem>
      )}
      {levels.length <= 4 && path.length < 4 && (
        <SubMenu wide icon={Split} label="Break down by …">
          <DimensionChoices words={words} isOffered={one => !others.includes(one)} onChange={breakDown} />
        </SubMenu>
      )}
      <MenuLine />
      <MenuItem
        icon={MousePointerClick}
        onSelect={() =>
          void navigate({
            to: '/clicks',
            search: { ...logged, ...clicks.search },
          })
        }
      >
        Show clicks
        {isCut && (
          <span className="block text-sm text-ink-faint">{`Only the last ${DAYS_OF_LOG} of these days; the click log shows no more at once.`}</span>
        )}
        {clicks.left.length > 0 && (
          <span className="block text-sm text-ink-faint">
            {`The click log cannot filter by ${SPOKEN.format(clicks.left.map(one => DIMENSION_WORDS[one].toLowerCase()))}.`}
          </span>
        )}
      </MenuItem>
      {flow !== undefined && (
        <MenuItem icon={ArrowUpRight} onSelect={() => void navigate({ to: '/click-flows/$id', params: { id: flow } })}>
          Open the click flow
        </MenuItem>
      )}
      {place !== undefined && (
        <MenuItem icon={ArrowUpRight} onSelect={() => void navigate(place)}>
          {`Open the ${DIMENSION_WORDS[level].toLowerCase()}`}
        </MenuItem>
      )}
    </>
  )
}

/** The click flow that the campaign of a row leads to. */
function useFlowOf(filters: readonly Filter[]): string | undefined {
  const campaigns = useCampaigns()
  const [, , id] = filters.find(([of, said]) => of === 'campaign' && said === 'is') ?? []
  const destination = campaigns.find(one => one.id === id)?.destination
  return destination?.type === 'click_flow' ? destination.click_flow_id : undefined
}

/** The page of a row's object, or its list with a search for its name. */
function placeOf(level: ExploreDimension, id: string, name: string) {
  switch (level) {
    case 'campaign':
      return linkOptions({ to: '/campaigns/$id', params: { id } })
    case 'source':
      return linkOptions({ to: '/sources/$id', params: { id } })
    case 'ad_account':
      return linkOptions({ to: '/ad-accounts/$id', params: { id } })
    case 'offer':
      return linkOptions({ to: '/offers', search: { q: name } })
    case 'landing':
      return linkOptions({ to: '/landings', search: { q: name } })
    case 'funnel':
      return linkOptions({ to: '/funnels', search: { q: name } })
    case 'bot':
      return linkOptions({ to: '/bots' })
    default:
      return undefined
  }
}
