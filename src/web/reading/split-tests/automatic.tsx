/** The switch of a test's automatic weights, what it does, and what it waits for. */
import type { z } from 'zod'
import { readClickFlowTests, readFunnelTests, type SplitTest } from '../../../reading/split-tests/api.ts'
import { setFunnelTestAutomatic } from '../../../traffic/automatic-weights/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { moment } from '../../ground/figures/figures.ts'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Switch } from '../../ground/ui/switch.tsx'
import { notify } from '../../ground/ui/toast.tsx'

type Test = z.input<typeof SplitTest>
export type TurnTest = (test_id: string, automatic: boolean) => Promise<unknown>

export function AutomaticWeights({ test, title, turn }: { test: Test; title: string; turn: TurnTest }) {
  const { role } = useActive()
  const refresh = useRefresh()
  const { id, automatic, state } = test
  const isEnded = state === 'ended' && !automatic
  const reason =
    reasonAgainst(setFunnelTestAutomatic, role) ?? (isEnded ? 'The test was ended. Go on with it first.' : undefined)
  const press = async (on: boolean) => {
    try {
      await turn(id, on)
      await refresh(readFunnelTests, readClickFlowTests)
      notify(on ? 'Sluice moves the weights from now on' : 'The weights stay as they are')
    } catch (error) {
      notify('Nothing has changed', error instanceof Error ? error.message : undefined)
    }
  }
  return (
    <div className="mt-3 flex items-start gap-2">
      <Switch label={`Automatic weights of ${title}`} on={automatic} reason={reason} onTurn={on => void press(on)} />
      <p className="pt-1.5 text-sm">
        <span className="font-medium">Automatic weights.</span>{' '}
        <span className="text-ink-soft">
          Sluice moves the weights to the variants that are probably best: at most once a day, from 50 conversions on,
          with at least 5 % for each variant. {standingOf(test)}
        </span>
      </p>
    </div>
  )
}

const WAITS = {
  not_active: 'Waits until the click flow is active.',
  draft: 'Waits until the draft is the published version.',
  variants: 'Waits, because more than 20 variants cannot keep 5 % each.',
  conversions: 'Waits for 50 conversions of matured visitors.',
  heavy_tail: 'Waits, because one visitor brought over a fifth of the revenue.',
  next_day: 'Moves again a day later at the earliest.',
  refused: 'The last move was refused; Sluice tries again within an hour.',
} as const

function standingOf({ weight_moves: { last_at, waits_for } }: Test): string {
  const last = last_at === null ? [] : [`Last moved ${moment(last_at)}.`]
  return [...last, ...(waits_for === null ? [] : [WAITS[waits_for]])].join(' ')
}
