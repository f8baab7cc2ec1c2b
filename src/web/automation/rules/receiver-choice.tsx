/** The receivers that a rule tells. */
import { useQuery } from '@tanstack/react-query'
import { listReceivers } from '../../../automation/receivers/api.ts'
import { ask } from '../../ground/call.ts'
import { chosenIn } from '../../ground/ui/draft.ts'
import { Checkbox } from '../../ground/ui/field.tsx'
import type { RuleFormProps } from './form-values.ts'

/** None is ticked: all receivers that are told about rules. A receiver that fails is marked. */
export function ReceiverChoice({ form }: RuleFormProps) {
  const receivers = useQuery(ask(listReceivers, { query: { limit: 200 } })).data?.data ?? []
  const chosen = form.watch('receiver_ids')
  if (receivers.length === 0)
    return (
      <p className="text-sm text-ink-faint">
        There are no receivers yet. Make one on the page Receivers, so that somebody is told.
      </p>
    )
  return (
    <fieldset className="grid gap-2 sm:grid-cols-3">
      <legend className="mb-1.5 text-sm text-ink-soft">
        {chosen.length === 0 ? 'Told: all receivers that are told about rules' : 'Told: these receivers'}
      </legend>
      {receivers.map(({ id, name, state, last_error }) => (
        <Checkbox
          key={id}
          label={name}
          {...(state === 'fails' ? { words: `Fails: ${last_error ?? 'the last message did not arrive'}` } : {})}
          checked={chosen.includes(id)}
          onChange={({ target }) =>
            form.setValue(
              'receiver_ids',
              target.checked ? [...chosen, id] : chosen.filter(one => one !== id),
              chosenIn(form),
            )
          }
        />
      ))}
    </fieldset>
  )
}
