/** Chooses a landing, an offer, a bot or a channel. A landing or an offer can be created here and is then chosen. */
import { useState } from 'react'
import { createLanding } from '../../../traffic/landings/api.ts'
import { createOffer } from '../../../traffic/offers/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { SelectField } from '../../ground/ui/field.tsx'
import { LandingDialog } from '../landings/landing-dialog.tsx'
import { OfferDialog } from '../offers/offer-dialog.tsx'
import type { Choices } from './choices.ts'

type ObjectType = keyof Choices

type ObjectFieldProps = {
  type: ObjectType
  label: string
  hideLabel?: boolean
  hint?: string
  /** The label of the empty choice. */
  none: string
  choices: Choices
  chosen: string
  /** Ids that cannot be chosen. */
  without?: readonly string[]
  onChoose: (id: string | null) => void
  className?: string
}

const NEW = 'new'
const CREATES = { landing: createLanding, offer: createOffer } as const

export function ObjectField(props: ObjectFieldProps) {
  const { type, none, choices, chosen, without = [], onChoose, label, hideLabel, hint, className } = props
  const { role } = useActive()
  const [creating, setCreating] = useState(false)
  const objects = choices[type]
  const mayCreate = type !== 'bot' && type !== 'channel' && reasonAgainst(CREATES[type], role) === undefined
  const dialog = {
    open: creating,
    onClose: () => setCreating(false),
    onSaved: ({ id }: { id: string }) => onChoose(id),
  }
  return (
    <>
      <SelectField
        label={label}
        hideLabel={hideLabel}
        hint={hint}
        className={className}
        value={chosen}
        onChange={({ target }) => (target.value === NEW ? setCreating(true) : onChoose(target.value || null))}
      >
        <option value="">{none}</option>
        {chosen !== '' && objects.every(({ id }) => id !== chosen) && <option value={chosen}>{chosen}</option>}
        {objects
          .filter(({ id, isArchived }) => (!isArchived || id === chosen) && !without.includes(id))
          .map(({ id, name, isArchived }) => (
            <option key={id} value={id}>
              {isArchived ? `${name} (archived)` : name}
            </option>
          ))}
        {mayCreate && <option value={NEW}>{`New ${type} …`}</option>}
      </SelectField>
      {type === 'landing' && <LandingDialog landing={undefined} {...dialog} />}
      {type === 'offer' && <OfferDialog offer={undefined} {...dialog} />}
    </>
  )
}
