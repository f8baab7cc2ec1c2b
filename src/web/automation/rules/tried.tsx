/** What a rule would have done in the last days, shown before it is saved. */
import { useMutation } from '@tanstack/react-query'
import { FlaskConical } from 'lucide-react'
import { useState } from 'react'
import { tryRule } from '../../../automation/rules/api.ts'
import type { WireReply } from '../../../contract/endpoint.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { call } from '../../ground/call.ts'
import { useCampaignNames } from '../../ground/campaign-choice.tsx'
import { count, exactMoment, money } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { SelectField } from '../../ground/ui/field.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { zoneWords } from '../../ground/zone.ts'
import type { RuleRequest } from './form-values.ts'
import { useValueNames } from './value-names.ts'
import { actedInWords, figureInWords } from './words.ts'

type Result = WireReply<typeof tryRule>

/** `requestOf`: the rule as it is in the form. */
export function TryRule({ requestOf }: { requestOf: () => RuleRequest }) {
  const { role } = useActive()
  const [days, setDays] = useState(7)
  const trying = useMutation({ mutationFn: () => call(tryRule, { body: { rule: requestOf(), days } }) })
  return (
    <section aria-label="Dry run" className="rounded-md border border-line bg-sunken p-3">
      <div className="flex flex-wrap items-end gap-2">
        <p className="min-w-0 flex-1 basis-60 text-ink-soft">
          What would it have done? Each hour is judged by what was known then.
        </p>
        <SelectField label="Days" hideLabel value={days} onChange={event => setDays(Number(event.target.value))}>
          {[7, 14, 30].map(number => (
            <option key={number} value={number}>
              {`Last ${number} days`}
            </option>
          ))}
        </SelectField>
        <Button
          icon={FlaskConical}
          pending={trying.isPending}
          reason={reasonAgainst(tryRule, role)}
          onClick={() => trying.mutate()}
        >
          Try it
        </Button>
      </div>
      <RefusalNote refused={trying.error} className="mt-3" />
      {trying.data !== undefined && <Found result={trying.data} />}
    </section>
  )
}

/** More acts than these make the dialog long. */
const MOST_SHOWN = 50

function Found({ result: { acts, checks, saved, lost } }: { result: Result }) {
  const nameOf = useCampaignNames(acts.map(({ campaign_id }) => campaign_id))
  const valueOf = useValueNames(acts)
  if (acts.length === 0)
    return <p className="mt-3">{`Nothing: in none of ${count(checks)} checks did anything fulfil it.`}</p>
  return (
    <div className="mt-3">
      <output className="mb-2 block">
        <strong>{`${count(acts.length)} ${acts.length === 1 ? 'act' : 'acts'}`}</strong>
        {`: it would have saved $${money(saved)} of cost and lost $${money(lost)} of revenue.`}
      </output>
      <Table caption="Acts of the dry run" className="max-h-72">
        <thead>
          <tr>
            <Head stay>{`Time (${zoneWords()})`}</Head>
            <Head>What</Head>
            <Head>Act</Head>
            <Head numeric>Clicks</Head>
            <Head numeric>Conv.</Head>
            <Head numeric>Cost</Head>
            <Head numeric>ROI</Head>
          </tr>
        </thead>
        <tbody>
          {acts.slice(0, MOST_SHOWN).map(({ at, act, figures, ...object }, place) => (
            <Row key={`${at} ${place}`}>
              <RowHead stay className="font-normal!">
                {exactMoment(at)}
              </RowHead>
              <Cell className="max-w-64 truncate">
                {[valueOf(object), nameOf(object.campaign_id)].filter(part => part !== null).join(' of ')}
              </Cell>
              <Cell>{actedInWords(act)}</Cell>
              <Cell numeric>{count(figures.clicks)}</Cell>
              <Cell numeric>{count(figures.conversions)}</Cell>
              <Cell numeric>{figureInWords('cost', figures.cost)}</Cell>
              <Cell numeric>{figureInWords('roi', figures.roi)}</Cell>
            </Row>
          ))}
        </tbody>
      </Table>
      {acts.length > MOST_SHOWN && (
        <p className="mt-1 text-ink-faint">{`And ${count(acts.length - MOST_SHOWN)} more.`}</p>
      )}
    </div>
  )
}
