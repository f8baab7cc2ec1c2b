/** The destination of a campaign: its kind, and the fields of that kind. To add a kind, add an entry to KINDS. */
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { VISIT_MACROS } from '../../../contract/address.ts'
import { listClickFlows } from '../../../traffic/click-flows/api.ts'
import { listFunnels } from '../../../traffic/funnels/api.ts'
import { previewOffer } from '../../../traffic/offers/api.ts'
import { ask, call } from '../../ground/call.ts'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { AddressPreview } from '../offers/address-preview.tsx'
import type { OfferRow } from '../offers/offer-dialog.tsx'
import type { CampaignValues } from './draft.ts'
import { useChosenOffer } from './offer-field.tsx'
import { TelegramFields } from './telegram-fields.tsx'

type Form = UseFormReturn<CampaignValues, unknown, CampaignValues>
type Destination = CampaignValues['destination']
type Kind = {
  label: string
  /** The form's values when the kind is chosen; `offer` is the campaign's. */
  start: (offer: OfferRow | undefined) => Destination
  Fields: (props: { form: Form }) => ReactNode
}

type KindName = Exclude<Destination['type'], 'bot' | 'mini_app' | 'channel'> | 'telegram'

const KINDS: Record<KindName, Kind> = {
  offer: {
    label: 'An offer',
    start: offer => ({ type: 'offer', offer_id: offer?.id ?? '' }),
    Fields: FollowedAddress,
  },
  funnel: { label: 'A funnel', start: () => ({ type: 'funnel', funnel_id: '' }), Fields: FunnelFields },
  click_flow: { label: 'A click flow', start: () => ({ type: 'click_flow', click_flow_id: '' }), Fields: FlowFields },
  telegram: {
    label: 'Telegram',
    start: () => ({ type: 'bot', bot_id: '', start: null, open: 'direct', link_host: 't.me' }),
    Fields: TelegramFields,
  },
  redirect: {
    label: 'Another URL',
    start: offer => ({ type: 'redirect', url: offer?.url ?? '' }),
    Fields: RedirectFields,
  },
}

const kindOf = (type: Destination['type']): KindName =>
  type === 'bot' || type === 'mini_app' || type === 'channel' ? 'telegram' : type

/** `children` are shown between the kind and its fields. */
export function DestinationFields({ form, children }: { form: Form; children: ReactNode }) {
  const name = kindOf(form.watch('destination').type)
  const offer = useChosenOffer(form)
  const kind = KINDS[name]
  return (
    <>
      <SelectField
        label="Visitors go to"
        className="max-w-xs"
        value={name}
        onChange={event => {
          form.clearErrors('destination')
          form.setValue('destination', KINDS[event.target.value as KindName].start(offer), {
            shouldDirty: true,
          })
        }}
      >
        {Object.entries(KINDS).map(([value, { label }]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectField>
      {children}
      <kind.Fields key={name} form={form} />
    </>
  )
}

/** The error of a field of the destination. Reading `errors` first subscribes to them. */
function faultOf(
  form: Form,
  name: 'destination.url' | 'destination.funnel_id' | 'destination.click_flow_id',
): string | undefined {
  return form.formState.errors.destination === undefined ? undefined : form.getFieldState(name).error?.message
}

/** The chosen offer's address, read only: it is edited in the offer. */
function FollowedAddress({ form }: { form: Form }) {
  const offer = useChosenOffer(form)
  return (
    <AddressPreview
      address={offer?.url ?? ''}
      preview={url => call(previewOffer, { body: { url } })}
      withoutClick="Without {click_id} in the offer’s address the network cannot report which click converted."
    />
  )
}

function RedirectFields({ form }: { form: Form }) {
  const destination = form.watch('destination')
  return (
    <>
      <TextField
        label="Redirect to"
        placeholder="https://example.com/offer?subid={click_id}"
        hint={`Macros: ${VISIT_MACROS}.`}
        error={faultOf(form, 'destination.url')}
        {...form.register('destination.url')}
      />
      <AddressPreview
        address={destination.type === 'redirect' ? destination.url : ''}
        preview={url => call(previewOffer, { body: { url } })}
        withoutClick="Without {click_id} the network cannot report which click converted."
      />
    </>
  )
}

function FunnelFields({ form }: { form: Form }) {
  const known = useQuery(ask(listFunnels, { query: { limit: 200 } })).data?.data ?? []
  const destination = form.watch('destination')
  const chosen = destination.type === 'funnel' ? destination.funnel_id : ''
  const fault = faultOf(form, 'destination.funnel_id')
  return (
    <SelectField
      label="Funnel"
      hint="Chooses a landing and an offer for each visitor."
      error={fault !== undefined && chosen === '' ? 'Choose a funnel.' : fault}
      {...form.register('destination.funnel_id')}
      value={chosen}
    >
      <option value="">Choose a funnel</option>
      {chosen !== '' && known.every(({ id }) => id !== chosen) && <option value={chosen}>{chosen}</option>}
      {known.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}

function FlowFields({ form }: { form: Form }) {
  const known = useQuery(ask(listClickFlows, { query: { limit: 200 } })).data?.data ?? []
  const destination = form.watch('destination')
  const chosen = destination.type === 'click_flow' ? destination.click_flow_id : ''
  const fault = faultOf(form, 'destination.click_flow_id')
  return (
    <SelectField
      label="Click flow"
      hint="While it is not active, visitors go to the fallback: set one below."
      error={fault !== undefined && chosen === '' ? 'Choose a click flow.' : fault}
      {...form.register('destination.click_flow_id')}
      value={chosen}
    >
      <option value="">Choose a click flow</option>
      {chosen !== '' && known.every(({ id }) => id !== chosen) && <option value={chosen}>{chosen}</option>}
      {known
        .filter(({ id, status }) => status !== 'archived' || id === chosen)
        .map(({ id, name, status }) => (
          <option key={id} value={id}>
            {status === 'active' ? name : `${name} (${status})`}
          </option>
        ))}
    </SelectField>
  )
}
