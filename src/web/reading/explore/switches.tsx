/** The switches for the comparison with the previous period and for unassigned spend. */
import { Checkbox } from '../../ground/ui/field.tsx'
import { canCompare } from './question.ts'
import { type Change, type ExploreSearch, levelsOf } from './search.ts'

export function Switches({ search, onChange }: { search: ExploreSearch; onChange: Change }) {
  const levels = levelsOf(search)
  return (
    <>
      {levels.includes('sub1') && (
        <Checkbox
          className="h-8 items-center! pointer-coarse:h-10"
          label="Keep unassigned spend apart"
          title="Spend booked without a sub1 gets a row of its own, instead of being shared among the clicks of its campaign and day"
          checked={search.unassigned !== undefined}
          onChange={({ target }) => onChange({ unassigned: target.checked ? 'apart' : undefined })}
        />
      )}
      <Checkbox
        className="h-8 items-center! pointer-coarse:h-10"
        label="Compare with previous period"
        title="The same number of days before"
        reason={canCompare(levels) ? undefined : 'Not available by day'}
        checked={canCompare(levels) && search.compare !== undefined}
        onChange={({ target }) => onChange({ compare: target.checked ? 'before' : undefined })}
      />
    </>
  )
}
