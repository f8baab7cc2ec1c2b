/** A campaign that leads into Telegram: which bot, what of it opens, and how. */
import { Link } from '@tanstack/react-router'
import type { UseFormReturn } from 'react-hook-form'
import { SelectField } from '../../ground/ui/field.tsx'
import { PlaceFields, useBots } from '../telegram/place-fields.tsx'
import type { Draft } from './draft.ts'

type Form = UseFormReturn<Draft, unknown, Draft>
type Place = Extract<Draft['destination'], { type: 'bot' | 'mini_app' }>

export function TelegramFields({ form }: { form: Form }) {
  const bots = useBots()
  const destination = form.watch('destination')
  if (destination.type !== 'bot' && destination.type !== 'mini_app') return null
  const { type, bot_id } = destination
  const change = (changes: object) =>
    form.setValue('destination', { ...destination, ...changes } as Place, {
      shouldDirty: true,
      shouldValidate: form.formState.isSubmitted,
    })
  const fault = faultOf(form, 'destination.bot_id')
  return (
    <>
      <SelectField
        label="What opens"
        className="max-w-xs"
        value={type}
        onChange={({ target }) =>
          change(target.value === 'bot' ? { type: 'bot', app: undefined } : { type: 'mini_app', app: null })
        }
      >
        <option value="bot">The chat with a bot</option>
        <option value="mini_app">A Mini App</option>
      </SelectField>
      <SelectField
        label="Bot"
        className="max-w-xs"
        hint={
          bots?.length === 0 ? (
            <>
              There is none yet. Add one under{' '}
              <Link to="/bots" className="text-accent underline-offset-2 hover:underline">
                Bots
              </Link>
              .
            </>
          ) : (
            'Clicks are bound to it: what its people do belongs to the click they came by.'
          )
        }
        error={fault !== undefined && bot_id === '' ? 'Choose a bot.' : fault}
        value={bot_id}
        onChange={({ target }) => change({ bot_id: target.value })}
      >
        <option value="">Choose a bot</option>
        {bot_id !== '' && bots?.every(({ id }) => id !== bot_id) && <option value={bot_id}>{bot_id}</option>}
        {bots?.map(({ id, username }) => (
          <option key={id} value={id}>
            @{username}
          </option>
        ))}
      </SelectField>
      <PlaceFields
        place={destination}
        bot_id={bot_id}
        faults={{ app: faultOf(form, 'destination.app'), start: faultOf(form, 'destination.start') }}
        change={change}
      />
    </>
  )
}

/** What is wrong with a field. Reading the errors first subscribes to them. */
function faultOf(form: Form, name: 'destination.bot_id' | 'destination.app' | 'destination.start'): string | undefined {
  return form.formState.errors.destination === undefined ? undefined : form.getFieldState(name).error?.message
}
