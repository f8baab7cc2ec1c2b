/** The destination fields of a campaign that leads into Telegram: a bot, a Mini App or a channel. */
import { Link } from '@tanstack/react-router'
import type { UseFormReturn } from 'react-hook-form'
import { chosenIn } from '../../ground/ui/draft.ts'
import { SelectField } from '../../ground/ui/field.tsx'
import { ChannelField } from '../telegram/channel-fields.tsx'
import { TelegramLinkFields, useBotChoices } from '../telegram/place-fields.tsx'
import type { CampaignValues } from './draft.ts'

type Form = UseFormReturn<CampaignValues, unknown, CampaignValues>
type TelegramDestination = Extract<CampaignValues['destination'], { type: 'bot' | 'mini_app' | 'channel' }>

const WORDS = { bot: 'The chat with a bot', channel: 'A channel or group', mini_app: 'A Mini App' } as const

export function TelegramFields({ form }: { form: Form }) {
  const destination = form.watch('destination')
  if (!isTelegram(destination)) return null
  const change = (changes: object) =>
    form.setValue('destination', { ...destination, ...changes } as TelegramDestination, chosenIn(form))
  const open = (type: TelegramDestination['type']) => {
    const { open, link_host } = destination
    const common = { open, link_host }
    const { bot_id, start } = destination.type === 'channel' ? { bot_id: '', start: null } : destination
    if (type === 'channel') return { type, channel_id: '', ...common }
    return type === 'bot' ? { type, bot_id, start, ...common } : { type, bot_id, app: null, start, ...common }
  }
  return (
    <>
      <SelectField
        label="Opens"
        className="max-w-xs"
        value={destination.type}
        onChange={({ target }) => {
          form.clearErrors('destination')
          form.setValue('destination', open(target.value as TelegramDestination['type']), { shouldDirty: true })
        }}
      >
        {Object.entries(WORDS).map(([type, words]) => (
          <option key={type} value={type}>
            {words}
          </option>
        ))}
      </SelectField>
      {destination.type === 'channel' ? (
        <ChannelField place={destination} fault={faultOf(form, 'destination.channel_id')} change={change} />
      ) : (
        <BotFields form={form} destination={destination} change={change} />
      )}
    </>
  )
}

const isTelegram = (destination: CampaignValues['destination']): destination is TelegramDestination =>
  destination.type in WORDS

type BotProps = {
  form: Form
  destination: Exclude<TelegramDestination, { type: 'channel' }>
  change: (changes: object) => void
}

function BotFields({ form, destination, change }: BotProps) {
  const bots = useBotChoices()
  const { bot_id } = destination
  const fault = faultOf(form, 'destination.bot_id')
  return (
    <>
      <SelectField
        label="Bot"
        className="max-w-xs"
        hint={
          bots?.length === 0 ? (
            <>
              None yet. Add one under{' '}
              <Link to="/bots" className="text-accent underline-offset-2 hover:underline">
                Bots
              </Link>
              .
            </>
          ) : (
            'What people do in this bot is credited to the click that brought them.'
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
      <TelegramLinkFields
        place={destination}
        bot_id={bot_id}
        faults={{ app: faultOf(form, 'destination.app'), start: faultOf(form, 'destination.start') }}
        change={change}
      />
    </>
  )
}

/** The error of a field. Reading `errors` first subscribes to them. */
function faultOf(
  form: Form,
  name: 'destination.bot_id' | 'destination.app' | 'destination.start' | 'destination.channel_id',
): string | undefined {
  return form.formState.errors.destination === undefined ? undefined : form.getFieldState(name).error?.message
}
