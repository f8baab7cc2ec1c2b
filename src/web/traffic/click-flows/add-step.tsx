/** The "+" on an edge or an open end: a menu of the steps that can be added there. */
import { Plus } from 'lucide-react'
import type { SyntheticEvent } from 'react'
import { NODE_TYPES, type NodeType } from '../../../traffic/click-flows/api.ts'
import { Menu, MenuItem } from '../../ground/ui/menu.tsx'
import { leadsOn, type StepPlace, TYPE_WORDS } from './graph.ts'
import type { NodeNames } from './names.ts'
import { ICONS } from './node-icons.ts'

type AddStepProps = { place: StepPlace; names: NodeNames; onAdd: (type: NodeType, place: StepPlace) => void }

export function AddStep({ place, names, onAdd }: AddStepProps) {
  const { from, branch, to } = place
  const where = to === undefined ? `after ${names.get(from)}` : `between ${names.get(from)} and ${names.get(to)}`
  // Without this, the canvas would take a click in the menu for a click on the card, and a key for moving the card.
  const stop = (event: SyntheticEvent) => event.stopPropagation()
  return (
    <span role="presentation" className="flex" onClick={stop} onKeyDown={stop}>
      <Menu
        align="start"
        trigger={
          <button
            type="button"
            aria-label={`Add a step ${where}${branch === undefined ? '' : `, if ${branch}`}`}
            className="nodrag nopan grid size-5 shrink-0 place-items-center rounded-full border border-line-strong bg-surface text-ink-soft hover:border-accent hover:bg-accent hover:text-on-accent data-popup-open:border-accent data-popup-open:bg-accent data-popup-open:text-on-accent"
          >
            <Plus aria-hidden className="size-3" />
          </button>
        }
      >
        {NODE_TYPES.filter(type => type !== 'entry' && (to === undefined || leadsOn(type))).map(type => (
          <MenuItem key={type} icon={ICONS[type]} onSelect={() => onAdd(type, place)}>
            {TYPE_WORDS[type]}
          </MenuItem>
        ))}
      </Menu>
    </span>
  )
}
