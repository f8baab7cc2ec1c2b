/** The members of a funnel with their weights, and the share of visitors that each one gets. */
import { Plus, X } from 'lucide-react'
import { useId } from 'react'
import { percent } from '../../ground/figures/figures.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button, IconButton } from '../../ground/ui/button.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'

export type FunnelMember = { id: string; weight: number }
/** A landing or offer that can be chosen, with its state. */
export type Choosable = { id: string; name: string; status: 'active' | 'archived' | 'deleted' }

type MembersProps = {
  legend: string
  /** The singular noun: "landing" or "offer". */
  one: string
  words: string
  members: readonly FunnelMember[]
  known: readonly Choosable[]
  onChange: (members: FunnelMember[]) => void
  /** The id that is chosen but not yet added; empty for none. */
  wanted: string
  onWant: (id: string) => void
  /** The error of the weight at an index. */
  faultOf: (at: number) => string | undefined
}

/** The share of visitors that a member gets, 0 to 1. Only active members get any. */
export function memberShare(
  member: FunnelMember,
  members: readonly FunnelMember[],
  isOpen: (id: string) => boolean,
): number {
  const whole = members.reduce((sum, { id, weight }) => sum + (isOpen(id) ? weight || 0 : 0), 0)
  return isOpen(member.id) && whole > 0 ? member.weight / whole : 0
}

/** The members with the one that is chosen but not yet added: saving includes it. */
export function withWanted(members: readonly FunnelMember[], wanted: string): FunnelMember[] {
  const isNew = wanted !== '' && members.every(({ id }) => id !== wanted)
  return isNew ? [...members, { id: wanted, weight: members.at(-1)?.weight || 1 }] : [...members]
}

export function MembersField(props: MembersProps) {
  const { legend, one, words, members, known, onChange, wanted, onWant, faultOf } = props
  const id = useId()
  const stateOf = (member: string) => known.find(choosable => choosable.id === member)
  const isOpen = (member: string) => stateOf(member)?.status === 'active'
  const change = (at: number, weight: number) =>
    onChange(members.map((member, other) => (other === at ? { ...member, weight } : member)))
  const isEven = members.every(({ weight }) => weight === members[0]?.weight)
  return (
    <fieldset aria-describedby={id} className="min-w-0">
      <div className="mb-2 flex flex-wrap items-end justify-between gap-2">
        <div>
          <legend className="font-medium">{legend}</legend>
          <p id={id} className="text-sm text-ink-faint">
            {words}
          </p>
        </div>
        {!isEven && (
          <Button size="sm" look="quiet" onClick={() => onChange(members.map(({ id }) => ({ id, weight: 1 })))}>
            Split evenly
          </Button>
        )}
      </div>
      <ul className="flex flex-col gap-2">
        {members.map((member, at) => {
          const state = stateOf(member.id)
          const name = state?.name ?? member.id
          return (
            <li key={member.id} className="flex items-start gap-3">
              <span className="flex min-h-8 min-w-0 flex-1 items-center gap-2">
                <span className="truncate" title={name}>
                  {name}
                </span>
                {state !== undefined && state.status !== 'active' && <Badge tone="plain">{state.status}</Badge>}
              </span>
              <TextField
                label={`Weight of ${name}`}
                hideLabel
                inputMode="numeric"
                className="w-20"
                autoComplete="off"
                value={Number.isNaN(member.weight) ? '' : member.weight}
                error={faultOf(at)}
                onChange={event => change(at, Number.parseInt(event.target.value, 10))}
              />
              <output aria-label={`Share of ${name}`} className="w-14 pt-1.5 text-right tabular-nums text-ink-soft">
                {percent(memberShare(member, members, isOpen) || undefined)}
              </output>
              <IconButton
                icon={X}
                label={`Remove ${name}`}
                onClick={() => onChange(members.filter(({ id }) => id !== member.id))}
              />
            </li>
          )
        })}
      </ul>
      <AddMember
        one={one}
        choices={known.filter(({ id, status }) => status === 'active' && members.every(member => member.id !== id))}
        wanted={wanted}
        onWant={onWant}
        onAdd={id => onChange(withWanted(members, id))}
      />
    </fieldset>
  )
}

type AddMemberProps = {
  one: string
  choices: readonly Choosable[]
  wanted: string
  onWant: (id: string) => void
  onAdd: (id: string) => void
}

function AddMember({ one, choices, wanted, onWant, onAdd }: AddMemberProps) {
  const chosen = choices.find(({ id }) => id === wanted)
  return (
    <div className="mt-2 flex items-end gap-2">
      <SelectField
        label={`Another ${one}`}
        hideLabel
        className="min-w-0 flex-1"
        value={chosen?.id ?? ''}
        onChange={event => onWant(event.target.value)}
      >
        <option value="">{choices.length === 0 ? `No other active ${one}` : `Choose ${one}`}</option>
        {choices.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <Button
        icon={Plus}
        reason={chosen === undefined ? `Choose ${one} first.` : undefined}
        onClick={() => {
          if (chosen === undefined) return
          onAdd(chosen.id)
          onWant('')
        }}
      >
        Add {one}
      </Button>
    </div>
  )
}
