/** Lists whose rows can be chosen, and the bar below them: how many are chosen, and what can be done with all of them. */
import { X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { reasonAgainst, useActive } from '../active.ts'
import { SaveCsv } from '../save-csv.tsx'
import { Button } from '../ui/button.tsx'
import { Menu, MenuItem } from '../ui/menu.tsx'
import { ActDialog } from './act-dialog.tsx'
import { ACT_WORDS, type ActType, type BulkEndpoint } from './acts.ts'
import { type ChosenRows, Selection } from './selection.tsx'

export type ActsProps = {
  endpoint: BulkEndpoint
  /** The word for the objects: "campaigns". */
  what: string
  acts: readonly ActType[]
  /** The filters of the list, for "all that match". */
  filter: Readonly<Record<string, string | undefined>>
  /** Whether the list has rows on other pages. */
  hasMore: boolean
}

/** A list whose rows can be chosen, with the bar below it. */
export function WithActs({ children, ...acts }: ActsProps & { children: ReactNode }) {
  return <Selection bar={chosen => <ActBar chosen={chosen} {...acts} />}>{children}</Selection>
}

function ActBar({ chosen, endpoint, what, acts, filter, hasMore }: ActsProps & { chosen: ChosenRows }) {
  const [act, setAct] = useState<ActType>()
  const { role } = useActive()
  const { ids, isAll } = chosen
  const reason = reasonAgainst(endpoint, role)
  if (ids.size === 0 && !isAll) return null
  const [first, second, third, ...others] = acts
  const quick = [first, second, third].filter(type => type !== undefined)
  return (
    <div
      role="toolbar"
      aria-label="Selected rows"
      className="popup sticky bottom-3 z-30 mx-auto mt-3 flex w-fit max-w-full flex-wrap items-center gap-2 px-3 py-2"
    >
      <span aria-live="polite" className="font-medium">
        {isAll ? `All ${what} that match` : `${ids.size} selected`}
      </span>
      {hasMore && !isAll && (
        <Button size="sm" look="quiet" onClick={chosen.chooseAll}>
          Select all that match
        </Button>
      )}
      {quick.map(type => (
        <Button key={type} size="sm" icon={ACT_WORDS[type].icon} reason={reason} onClick={() => setAct(type)}>
          {ACT_WORDS[type].words}
        </Button>
      ))}
      <SaveCsv
        endpoint={{ route: csvRoute(endpoint) }}
        picked={isAll ? { filter: present(filter) } : { ids: [...ids] }}
        words="Export"
        name={what.replaceAll(' ', '-')}
      />
      {others.length > 0 && (
        <Menu trigger={<Button size="sm">More</Button>}>
          {others.map(type => (
            <MenuItem key={type} icon={ACT_WORDS[type].icon} reason={reason} onSelect={() => setAct(type)}>
              {ACT_WORDS[type].words}
            </MenuItem>
          ))}
        </Menu>
      )}
      <Button size="sm" look="quiet" icon={X} onClick={chosen.clear}>
        Clear
      </Button>
      {act !== undefined && (
        <ActDialog
          key={act}
          type={act}
          what={what}
          endpoint={endpoint}
          objects={isAll ? { filter: present(filter) } : { ids: [...ids] }}
          onClose={() => setAct(undefined)}
          onDone={chosen.clear}
        />
      )}
    </div>
  )
}

/** The file of picked objects has the address of their bulk acts. */
const csvRoute = ({ route }: BulkEndpoint): `POST /api/${string}` =>
  route.replace(/bulk$/, 'csv') as `POST /api/${string}`

const present = (filter: ActsProps['filter']): Record<string, string> =>
  Object.fromEntries(Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
