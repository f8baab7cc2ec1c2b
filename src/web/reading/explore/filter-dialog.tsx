/** The dialog of one filter: dimension, condition and values, which it looks up. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { MOST_VALUES } from '../../../contract/explore.ts'
import { type ExploreDimension, isTextDimension } from '../../../contract/explore-dimensions.ts'
import { ask } from '../../ground/call.ts'
import { compact } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { SelectField } from '../../ground/ui/field.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { SearchField } from '../../ground/ui/search-field.tsx'
import { listExploreValues } from '../../../reading/explore/api.ts'
import { keyInWords, OFFERED } from './dimensions.ts'
import type { Words } from './level-chips.tsx'
import { useNamed } from './names.ts'
import type { WindowBounds } from './question.ts'
import { type Filter, isBare, CONDITION_WORDS, type Condition, conditionsOf } from './search.ts'

type FilterDialogProps = {
  isOpen: boolean
  filter: Filter | undefined
  words: Words
  window: WindowBounds
  onClose: () => void
  onSave: (filter: Filter) => void
}

export function FilterDialog({ isOpen, filter, onClose, ...rest }: FilterDialogProps) {
  return (
    <Dialog open={isOpen} onClose={onClose} title={filter === undefined ? 'New filter' : 'Filter'}>
      <FilterForm filter={filter ?? ['geo', 'is']} isNew={filter === undefined} onClose={onClose} {...rest} />
    </Dialog>
  )
}

type FilterFormProps = Omit<FilterDialogProps, 'isOpen' | 'filter'> & { filter: Filter; isNew: boolean }

function FilterForm({ filter, isNew, words, window, onClose, onSave }: FilterFormProps) {
  const [dimension, setDimension] = useState(filter[0])
  const [said, setSaid] = useState(filter[1])
  const [values, setValues] = useState<readonly string[]>(filter.slice(2))
  const bare = isBare(said)
  const choose = (next: ExploreDimension) => {
    setDimension(next)
    setValues([])
    if (!conditionsOf(next).includes(said)) setSaid('is')
  }
  const reason = !bare && values.length === 0 ? 'Choose a value.' : undefined
  return (
    <DialogForm onSubmit={() => reason === undefined && onSave([dimension, said, ...(bare ? [] : values)])}>
      <DialogBody>
        <div className="grid grid-cols-2 gap-3">
          <SelectField
            label="Dimension"
            value={dimension}
            onChange={({ target }) => choose(target.value as ExploreDimension)}
          >
            {OFFERED.map(({ title, dimensions }) => (
              <optgroup key={title} label={title}>
                {dimensions.map(one => (
                  <option key={one} value={one}>
                    {words(one)}
                  </option>
                ))}
              </optgroup>
            ))}
          </SelectField>
          <SelectField label="Condition" value={said} onChange={({ target }) => setSaid(target.value as Condition)}>
            {conditionsOf(dimension).map(one => (
              <option key={one} value={one}>
                {CONDITION_WORDS[one]}
              </option>
            ))}
          </SelectField>
        </div>
        {!bare && (
          <Values
            key={dimension}
            dimension={dimension}
            isPart={said === 'contains' || said === 'not_contains'}
            values={values}
            window={window}
            onChange={setValues}
          />
        )}
      </DialogBody>
      <SaveFoot action={isNew ? 'Add filter' : 'Change filter'} pending={false} reason={reason} onCancel={onClose} />
    </DialogForm>
  )
}

type ValuesProps = {
  dimension: ExploreDimension
  /** Parts of values are typed instead of chosen. */
  isPart: boolean
  values: readonly string[]
  window: WindowBounds
  onChange: (values: readonly string[]) => void
}

function Values({ dimension, isPart, values, window, onChange }: ValuesProps) {
  const [sought, setSought] = useState<string>()
  const named = useNamed(
    values.map((value): Filter => [dimension, 'is', value]),
    window,
  )
  const found = useQuery({
    ...ask(listExploreValues, { query: { dimension, ...window, ...(sought === undefined ? {} : { search: sought }) } }),
    placeholderData: keepPreviousData,
  })
  const offered = (found.data?.values ?? []).filter(({ key }) => !values.includes(key))
  const add = (value: string) => onChange([...new Set([...values, value])].slice(0, MOST_VALUES))
  // A text that no click has yet may be typed too.
  const canType = sought !== undefined && isTextDimension(dimension) && !values.includes(sought)
  const isListed = !isPart && offered.some(({ key }) => key === sought)
  return (
    <div
      // Enter adds the typed value instead of submitting the form.
      role="presentation"
      className="flex flex-col gap-2"
      onKeyDown={event => {
        if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return
        event.preventDefault()
        const typed = event.target.value.trim()
        const [first] = offered
        if (typed !== '' && isTextDimension(dimension) && dimension !== 'geo') add(typed)
        else if (typed !== '' && typed === sought && first !== undefined) add(first.key)
      }}
    >
      <ul aria-label="Values" className="flex flex-wrap gap-1 empty:hidden">
        {values.map(value => (
          <li key={value} className="chip max-w-full">
            <span className="chip-words">{named(dimension, value)}</span>
            <button
              type="button"
              aria-label={`Remove ${named(dimension, value)}`}
              className="chip-end"
              onClick={() => onChange(values.filter(one => one !== value))}
            >
              <X aria-hidden className="size-3.5" />
            </button>
          </li>
        ))}
      </ul>
      <SearchField
        value={sought}
        label={isPart ? 'Part of the value' : 'Search values'}
        placeholder={isPart ? 'Part of the value' : 'Search values'}
        onSeek={setSought}
      />
      <ul
        aria-label="Found"
        className="flex max-h-56 min-h-24 flex-col overflow-y-auto rounded-md border border-line p-1"
      >
        {canType && !isListed && (
          <Offer onChoose={() => add(sought)}>{isPart ? `contains “${sought}”` : `“${sought}”, as typed`}</Offer>
        )}
        {!isPart &&
          offered.map(({ key, label, clicks }) => (
            <Offer key={key} clicks={clicks} onChoose={() => add(key)}>
              {key === '' ? '(none)' : keyInWords(dimension, key, label)}
            </Offer>
          ))}
        {!isPart && found.data?.values.length === 0 && !canType && (
          <li className="px-2 py-1 text-ink-faint">No such value in these days.</li>
        )}
        {isPart && !canType && <li className="px-2 py-1 text-ink-faint">Type part of the value above.</li>}
      </ul>
      <RefusalNote refused={found.error} />
    </div>
  )
}

type OfferProps = { clicks?: number | null; onChoose: () => void; children: string }

function Offer({ clicks, onChoose, children }: OfferProps) {
  return (
    <li className="contents">
      <Button look="quiet" size="sm" icon={Plus} className="w-full justify-start!" onClick={onChoose}>
        <span className="min-w-0 flex-1 truncate text-left">{children}</span>
        {clicks != null && <span className="font-normal text-ink-faint">{compact(clicks)}</span>}
      </Button>
    </li>
  )
}
