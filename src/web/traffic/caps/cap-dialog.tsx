/** The dialog that creates or edits a cap: its limit, its period, and where visitors go once it is reached. */
import { useQuery } from '@tanstack/react-query'
import type { DefaultValues } from 'react-hook-form'
import type { z } from 'zod'
import { EVENT_TYPES } from '../../../contract/event-types.ts'
import {
  CAP_METRICS,
  CAP_PERIODS,
  type Cap,
  CapDraft,
  createCap,
  listCaps,
  updateCap,
} from '../../../traffic/caps/api.ts'
import { listOffers } from '../../../traffic/offers/api.ts'
import { ask, call } from '../../ground/call.ts'
import { inWords } from '../../ground/rungs.ts'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { noneIfBlank, useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { ownZone } from '../../ground/zone-names.ts'
import { ZoneOptions } from './zones.tsx'

export type CapRow = z.input<typeof Cap>
type Draft = z.input<typeof CapDraft>

/** The offer or campaign that is capped; `earns` are the conversion types that an offer pays for. */
export type Capped = { object: CapRow['object']; id: string; name: string; earns?: readonly string[] }

type CapDialogProps = { capped: Capped; cap: CapRow | undefined; open: boolean; onClose: () => void }

export function CapDialog({ capped, cap, open, onClose }: CapDialogProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={cap === undefined ? `New cap on ${capped.name}` : `Cap on ${capped.name}`}
      description="Once the limit is reached, new visitors go elsewhere. Conversions of earlier clicks still count."
    >
      <CapForm capped={capped} cap={cap} onClose={onClose} />
    </Dialog>
  )
}

function draftOf({ object, id, earns = [] }: Capped, cap: CapRow | undefined): DefaultValues<Draft> {
  if (cap !== undefined) {
    const { object_id, metric, event_types, limit, period, timezone, then_offer_id, when_unknown } = cap
    return { object, object_id, metric, event_types, limit, period, timezone, then_offer_id, when_unknown }
  }
  const event_types = EVENT_TYPES.filter(type => earns.includes(type))
  return {
    object,
    object_id: id,
    metric: 'conversions',
    event_types,
    period: 'day',
    timezone: ownZone(),
    then_offer_id: null,
    when_unknown: 'closed',
  }
}

const METRICS = { conversions: 'Conversions', clicks: 'Clicks', cost: 'Cost of clicks, $' }
const PERIODS = { day: 'a day', month: 'a month', total: 'in total' }
const EVERY = 'every'

function CapForm({ capped, cap, onClose }: Omit<CapDialogProps, 'open'>) {
  const form = useDraft<Draft>(CapDraft, draftOf(capped, cap))
  const errors = form.formState.errors
  const [metric, period] = [form.watch('metric'), form.watch('period')]
  const isOfConversions = metric === 'conversions'
  return (
    <DraftForm
      form={form}
      action={cap === undefined ? 'Add cap' : 'Save cap'}
      endpoint={cap === undefined ? createCap : updateCap}
      deed={body => save(cap, { ...body, event_types: isOfConversions ? (body.event_types ?? []) : [] })}
      refresh={[listCaps]}
      onClose={onClose}
      onSaved={saved =>
        notify(
          cap === undefined ? 'The cap is added' : 'The cap is saved',
          saved.state === 'reached' ? 'It is reached: new visitors go elsewhere now.' : 'It applies now.',
        )
      }
    >
      <div className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)] gap-4">
        <TextField
          label="Limit"
          inputMode="numeric"
          autoComplete="off"
          error={errors.limit && 'Enter a whole number, 1 or more.'}
          {...form.register('limit', { setValueAs: typed => (typed === '' ? Number.NaN : Number(typed)) })}
        />
        <SelectField label="Per" {...form.register('period')}>
          {CAP_PERIODS.map(one => (
            <option key={one} value={one}>
              {PERIODS[one]}
            </option>
          ))}
        </SelectField>
        {cap === undefined ? (
          <SelectField label="Of" {...form.register('metric')}>
            {CAP_METRICS.map(one => (
              <option key={one} value={one}>
                {METRICS[one]}
              </option>
            ))}
          </SelectField>
        ) : (
          <TextField label="Of" value={METRICS[cap.metric]} readOnly />
        )}
        {metric === 'clicks' && (
          <SelectField
            label="If the database is down"
            hint="Applies once the clicks that this server has reserved are used up."
            {...form.register('when_unknown')}
          >
            <option value="closed">Take no more visitors</option>
            <option value="open">Take all visitors</option>
          </SelectField>
        )}
        {metric === 'cost' && (
          <p className="self-center text-sm text-ink-faint">
            Cost from the link or the campaign’s cost model, counted a few seconds late.
          </p>
        )}
        {isOfConversions && (
          <TypesField
            types={form.watch('event_types') ?? []}
            onChange={types => form.setValue('event_types', types, { shouldDirty: true })}
          />
        )}
      </div>
      {period !== 'total' && (
        <SelectField
          label="Time zone"
          hint={`A ${period} begins at midnight there.`}
          error={errors.timezone?.message}
          {...form.register('timezone')}
        >
          <ZoneOptions also={form.watch('timezone') ?? ''} />
        </SelectField>
      )}
      {capped.object === 'offer' && (
        <ThenField
          own={capped.id}
          value={form.watch('then_offer_id') ?? ''}
          register={form.register('then_offer_id', noneIfBlank)}
        />
      )}
    </DraftForm>
  )
}

function save(cap: CapRow | undefined, body: Draft): Promise<CapRow> {
  if (cap === undefined) return call(createCap, { body })
  const { event_types, limit, period, timezone, then_offer_id, when_unknown } = body
  return call(updateCap, {
    params: { id: cap.id },
    body: {
      event_types,
      limit,
      period,
      then_offer_id,
      ...(timezone == null ? {} : { timezone }),
      ...(when_unknown == null ? {} : { when_unknown }),
    },
  })
}

type Types = NonNullable<Draft['event_types']>

function TypesField({ types, onChange }: { types: Types; onChange: (types: Types) => void }) {
  const [first] = types
  const several = types.map(inWords).join(', ')
  return (
    <SelectField
      label="Which"
      value={first === undefined ? EVERY : types.length > 1 ? several : first}
      onChange={event => onChange(EVENT_TYPES.filter(type => type === event.target.value))}
    >
      <option value={EVERY}>Every conversion</option>
      {types.length > 1 && <option value={several}>{several}</option>}
      {EVENT_TYPES.map(type => (
        <option key={type} value={type}>
          {inWords(type)}
        </option>
      ))}
    </SelectField>
  )
}

type ThenFieldProps = { own: string; value: string; register: Partial<React.ComponentProps<'select'>> }

function ThenField({ own, value, register }: ThenFieldProps) {
  const offers = useQuery(ask(listOffers, { query: { limit: 200 } })).data?.data ?? []
  const known = offers.filter(({ id, status }) => id !== own && (status === 'active' || id === value))
  return (
    <SelectField
      label="Then visitors go to"
      hint="Their clicks then belong to that offer. Without another offer, campaigns send them to their fallback, funnels to their other offers."
      {...register}
    >
      <option value="">No other offer</option>
      {value !== '' && known.every(({ id }) => id !== value) && <option value={value}>{value}</option>}
      {known.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}
