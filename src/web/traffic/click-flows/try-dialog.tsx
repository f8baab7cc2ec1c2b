/** Tests a flow: where a described visitor or the last real clicks would go, and why, by the draft and by the published version. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import { DEVICES, MOST_TRIED, type Tried, type TriedVisitor, tryClickFlow } from '../../../traffic/click-flows/api.ts'
import { call } from '../../ground/call.ts'
import { useCampaigns } from '../../ground/campaign-choice.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm } from '../../ground/ui/dialog.tsx'
import { Checkbox, SelectField, TextField } from '../../ground/ui/field.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { codeOf } from './countries.ts'
import type { FlowRow } from './graph.ts'
import { TriedNote } from './tried.tsx'

type Visitor = z.input<typeof TriedVisitor>
type Reply = z.input<typeof Tried>

export function TryDialog({ flow, open, onClose }: { flow: FlowRow; open: boolean; onClose: () => void }) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Try it"
      description="Shows where visitors would go and why. Nothing is recorded."
      width="wide"
    >
      <TryForm flow={flow} />
    </Dialog>
  )
}

const TEXTS = [
  { key: 'geo', label: 'Country', placeholder: 'DE' },
  { key: 'os', label: 'Operating system', placeholder: 'Android' },
  { key: 'browser', label: 'Browser', placeholder: 'Chrome' },
  { key: 'language', label: 'Language', placeholder: 'de-DE' },
  { key: 'sub1', label: 'sub1', placeholder: '' },
  { key: 'sub2', label: 'sub2', placeholder: '' },
  { key: 'sub3', label: 'sub3', placeholder: '' },
] as const

function TryForm({ flow }: { flow: FlowRow }) {
  const [isReal, setReal] = useState(false)
  const [visitor, setVisitor] = useState<Visitor>({ is_new: true, is_bot: false })
  const [count, setCount] = useState(50)
  const [campaign, setCampaign] = useState('')
  const campaigns = useCampaigns()
  const attempt = useMutation({
    mutationFn: (): Promise<Reply> =>
      call(tryClickFlow, {
        params: { id: flow.id },
        body: isReal
          ? { last_clicks: count, campaign_id: campaign || null }
          : { visitor: { ...visitor, geo: visitor.geo ? (codeOf(visitor.geo) ?? visitor.geo) : null } },
      }),
  })
  return (
    <DialogForm onSubmit={() => attempt.mutate()}>
      <DialogBody>
        <SelectField label="Visitors" value={isReal ? 'clicks' : 'visitor'} onChange={() => setReal(!isReal)}>
          <option value="visitor">A visitor I describe</option>
          <option value="clicks">The last real clicks</option>
        </SelectField>
        {isReal ? (
          <div className="flex flex-wrap items-end gap-3">
            <TextField
              label="How many"
              type="number"
              min={1}
              max={MOST_TRIED}
              className="w-28"
              value={count}
              onChange={event =>
                setCount(Math.min(MOST_TRIED, Math.max(1, Math.round(Number(event.target.value)) || 1)))
              }
            />
            <SelectField
              label="Campaign"
              className="w-64"
              value={campaign}
              onChange={event => setCampaign(event.target.value)}
            >
              <option value="">All campaigns that lead here</option>
              {campaigns.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </SelectField>
          </div>
        ) : (
          <VisitorFields visitor={visitor} onChange={changes => setVisitor({ ...visitor, ...changes })} />
        )}
        <RefusalNote refused={attempt.error} />
        {attempt.data !== undefined && <TriedNote tried={attempt.data} />}
      </DialogBody>
      <DialogFoot>
        <Button type="submit" look="primary" pending={attempt.isPending}>
          Try it
        </Button>
      </DialogFoot>
    </DialogForm>
  )
}

function VisitorFields({ visitor, onChange }: { visitor: Visitor; onChange: (changes: Partial<Visitor>) => void }) {
  return (
    <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
      <SelectField
        label="Device"
        value={visitor.device ?? ''}
        onChange={event => onChange({ device: event.target.value || null })}
      >
        <option value="">Not known</option>
        {DEVICES.map(device => (
          <option key={device} value={device}>
            {device}
          </option>
        ))}
      </SelectField>
      {TEXTS.map(({ key, label, placeholder }) => (
        <TextField
          key={key}
          label={label}
          placeholder={placeholder}
          autoComplete="off"
          value={visitor[key] ?? ''}
          onChange={event => onChange({ [key]: event.target.value || null })}
        />
      ))}
      <TextField
        label="When, UTC"
        type="datetime-local"
        className="col-span-2"
        value={visitor.at?.slice(0, 16) ?? ''}
        onChange={event => onChange({ at: event.target.value === '' ? null : `${event.target.value}Z` })}
      />
      <Checkbox
        label="New visitor"
        className="self-end"
        checked={visitor.is_new === true}
        onChange={event => onChange({ is_new: event.target.checked })}
      />
      <Checkbox
        label="Bot"
        className="self-end"
        checked={visitor.is_bot === true}
        onChange={event => onChange({ is_bot: event.target.checked })}
      />
    </div>
  )
}
