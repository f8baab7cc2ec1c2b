/** The payment settings of a bot: whether Sluice approves checkouts, and what a Star is worth. */
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { BotChanges, updateBot } from '../../../telegram/bots/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { ago, count } from '../../ground/figures/figures.ts'
import { submits, useRequestDraft } from '../../ground/ui/draft.ts'
import { Checkbox, TextField } from '../../ground/ui/field.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { useUnsaved } from '../../ground/ui/unsaved.ts'
import { type BotRow, SHOW_BOTS } from './state.tsx'

const valuesOf = ({ accept_payments, stars_rate }: BotRow) => ({ accept_payments, rate: stars_rate ?? '' })

export function MoneyPart({ bot }: { bot: BotRow }) {
  const { id, mode, unanswered_payments, stars_looked_at } = bot
  const { role } = useActive()
  const refresh = useRefresh()
  const form = useRequestDraft({
    schema: BotChanges,
    values: valuesOf(bot),
    requestOf: ({ accept_payments, rate }) => ({
      accept_payments,
      stars_rate: rate.trim() === '' ? null : rate.trim(),
    }),
    fieldOf: ([field]) => (field === 'stars_rate' ? 'rate' : 'accept_payments'),
  })
  useUnsaved(form.formState.isDirty, 'payments')
  const save = useMutation({
    mutationFn: (body: { accept_payments: boolean; stars_rate: string | null }) =>
      call(updateBot, { params: { id }, body }),
    onSuccess: async saved => {
      form.reset(valuesOf(saved))
      await refresh(...SHOW_BOTS)
      notify('Payment settings saved')
    },
  })
  return (
    <PartForm
      action="Save payments"
      onSubmit={submits(form, body => save.mutate(body))}
      save={save}
      reason={reasonAgainst(updateBot, role)}
    >
      {mode === 'own' && !bot.accept_payments && unanswered_payments > 0 && (
        <Note kind="warning">
          <strong>{count(unanswered_payments)} payments failed:</strong> nothing answered Telegram’s pre-checkout query.
        </Note>
      )}
      <Checkbox
        label="Approve payments automatically"
        words={
          mode === 'own'
            ? 'Telegram asks before each payment and waits ten seconds. Tick this if no program of yours answers.'
            : 'Your program answers Telegram’s pre-checkout query. This applies only if Sluice alone runs the bot.'
        }
        {...form.register('accept_payments')}
      />
      <TextField
        label="USD per Star"
        optional
        inputMode="decimal"
        className="max-w-60"
        placeholder="0.013"
        hint="Blank = payments in Stars are recorded without an amount."
        error={form.formState.errors.rate?.message}
        {...form.register('rate')}
      />
      <p className="text-sm text-ink-faint">
        Payments in US dollars count in full, payments in other currencies without an amount. The offer’s payout does
        not apply. {stars_looked_at !== null && `The bot’s Star transactions were read ${ago(stars_looked_at)}. `}
        <Link to="/payments" search={{ bot: id }} className="text-accent hover:underline">
          Payments
        </Link>
      </p>
    </PartForm>
  )
}
