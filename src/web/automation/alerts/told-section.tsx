/** Which alerts the workspace gets, saved at once. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ALERT_KINDS, ALERT_WORDS, type AlertKind } from '../../../contract/alerts.ts'
import { type AlertSettings, readAlertSettings, replaceAlertSettings } from '../../../automation/alerts/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { Checkbox, TextField } from '../../ground/ui/field.tsx'
import { Section } from '../../ground/ui/page.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'

/** Each call replaces all settings, so that they are sent one after another, in the order in which they were changed. */
const SAVING = { mutationKey: ['alert-settings'], scope: { id: 'alert-settings' } }

export function ToldSection() {
  const settings = useQuery(ask(readAlertSettings))
  const { role } = useActive()
  const refresh = useRefresh()
  const queries = useQueryClient()
  const { queryKey } = ask(readAlertSettings)
  const save = useMutation({
    ...SAVING,
    mutationFn: (body: AlertSettings) => call(replaceAlertSettings, { body }),
    onMutate: async body => {
      // What is on its way may lack this change.
      const cancelled = queries.cancelQueries({ queryKey })
      queries.setQueryData(queryKey, body)
      await cancelled
    },
    onSettled: () => (queries.isMutating(SAVING) === 1 ? refresh(readAlertSettings) : undefined),
  })
  if (settings.data === undefined) return null
  const { off, fall } = settings.data
  const reason = reasonAgainst(replaceAlertSettings, role)
  const turn = (kind: AlertKind, on: boolean) =>
    save.mutate({ off: on ? off.filter(one => one !== kind) : [...off, kind], fall })
  const setLeast = (min_expected: number) => {
    if (Number.isInteger(min_expected) && min_expected > 0)
      save.mutate({ off, fall: { conversions: { min_expected } } })
  }
  const { min_expected } = fall.conversions
  return (
    <Section
      title="What is told"
      words="Sluice looks at these by itself. Clicks and conversions have fallen if chance does not explain the difference to the same hours of the four weeks before."
      className="mt-8"
    >
      <RefusalNote refused={save.error} />
      <fieldset aria-label="What is told" className="grid gap-2 sm:grid-cols-2 lg:grid-cols-4">
        {ALERT_KINDS.map(kind => (
          <Checkbox
            key={kind}
            label={ALERT_WORDS[kind]}
            reason={reason}
            checked={!off.includes(kind)}
            onChange={event => turn(kind, event.target.checked)}
          />
        ))}
      </fieldset>
      {reason === undefined && (
        <TextField
          key={min_expected}
          className="mt-4 max-w-72"
          label="Least conversions expected"
          hint="A fall is told only where so many were expected."
          inputMode="numeric"
          defaultValue={min_expected}
          onBlur={event => setLeast(Number(event.target.value))}
        />
      )}
    </Section>
  )
}
