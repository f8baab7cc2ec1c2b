/** The payment settings of a bot: whether Sluice approves checkouts, and what a Star is worth. */
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { BotChanges, updateBot } from '../../../telegram/bots/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { ago, count } from '../../ground/figures/figures.ts'
import { Checkbox, TextField } from '../../ground/ui/field.tsx'
import { PartForm } from '../../ground/ui/part-form.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { isChanged, useUnsaved } from '../../ground/ui/unsaved.ts'
import { type BotRow, SHOW_BOTS } from './state.tsx'

export function MoneyPart({ bot }: { bot: BotRow }) {
  const { id, mode, unanswered_payments, stars_looked_at } = bot
  const { role } = useActive()
  const refresh = useRefresh()
  const before = { accept_payments: bot.accept_payments, rate: bot.stars_rate ?? '' }
  const [terms, setTerms] = useState(before)
  const [fault, setFault] = useState<string>()
  useUnsaved(isChanged(terms, before), 'payments')
  const body = {
    accept_payments: terms.accept_payments,
    stars_rate: terms.rate.trim() === '' ? null : terms.rate.trim(),
  }
  const save = useMutation({
    mutationFn: () => call(updateBot, { params: { id }, body }),
    onSuccess: async saved => {
      setTerms({ accept_payments: saved.accept_payments, rate: saved.stars_rate ?? '' })
      await refresh(...SHOW_BOTS)
      notify('Payment settings saved')
    },
  })
  const submit = () => {
    const checked = BotChanges.safeParse(body)
    setFault(checked.success ? undefined : checked.error.issues[0]?.message)
    if (checked.success) save.mutate()
  }
  return (
    <PartForm action="Save payments" onSubmit={submit} save={save} reason={reasonAgainst(updateBot, role)}>
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
        checked={terms.accept_payments}
        onChange={event => setTerms({ ...terms, accept_payments: event.target.checked })}
      />
      <TextField
        label="USD per Star"
        optional
        inputMode="decimal"
        className="max-w-60"
        placeholder="0.013"
        hint="Blank = payments in Stars are recorded without an amount."
        error={fault}
        value={terms.rate}
        onChange={event => setTerms({ ...terms, rate: event.target.value })}
      />
      <p className="text-sm text-ink-faint">
        Payments in US dollars count in full, payments in other currencies as zero. The offer’s payout does not apply.{' '}
        {stars_looked_at !== null && `The bot’s Star transactions were read ${ago(stars_looked_at)}. `}
        <Link to="/payments" search={{ bot: id }} className="text-accent hover:underline">
          Payments
        </Link>
      </p>
    </PartForm>
  )
}
