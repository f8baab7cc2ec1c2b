/** One network: the address to enter there, how its calls are read, and who may call. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { ChevronLeft } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import {
  deleteNetwork,
  listNetworks,
  type Network,
  type NetworkChanges,
  readNetwork,
  rotateNetworkToken,
  TEMPLATE_LABELS,
  updateNetwork,
} from '../../../intake/networks/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { ago } from '../../ground/figures/figures.ts'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { CodeBlock } from '../../ground/ui/copy.tsx'
import { Checkbox, TextArea, TextField } from '../../ground/ui/field.tsx'
import { Asked, PageHeader, Setting } from '../../ground/ui/page.tsx'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { isChanged, useUnsaved } from '../../ground/ui/unsaved.ts'
import { addressOf } from '../../traffic/campaigns/address.tsx'
import { CurrencySetting } from './currency-setting.tsx'
import { AfterTheFact, TryCall } from './after-the-fact.tsx'
import { ParameterFields, StatusFields } from './maps.tsx'
import { reasonAgainstCopying, WITHHELD } from './withheld.ts'

type NetworkRow = z.input<typeof Network>
type Changes = z.input<typeof NetworkChanges>

const route = getRouteApi('/inside/networks/$id')

export function NetworkPage() {
  const { id } = route.useParams()
  const network = useQuery(ask(readNetwork, { params: { id } }))
  return (
    <>
      <Link to="/networks" className="mb-2 inline-flex items-center gap-1 text-ink-soft hover:text-ink">
        <ChevronLeft aria-hidden className="size-3.5" />
        Networks
      </Link>
      <Asked query={network} title="Network">
        {found => <NetworkSettings key={found.updated_at} network={found} />}
      </Asked>
    </>
  )
}

function NetworkSettings({ network }: { network: NetworkRow }) {
  const queries = useQueryClient()
  const { role } = useActive()
  const [changes, setChanges] = useState<Changes>({})
  const now = { ...network, ...changes } as NetworkRow
  useUnsaved(isChanged(now, network), 'the network')
  const set = (more: Changes) => setChanges(before => ({ ...before, ...more }))
  const save = useMutation({
    mutationFn: () => call(updateNetwork, { params: { id: network.id }, body: changes }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: [readNetwork.route] })
      await queries.invalidateQueries({ queryKey: [listNetworks.route] })
      setChanges({})
      notify('The network is saved')
    },
  })
  const reason = reasonAgainst(updateNetwork, role)
  const heard =
    network.last_received_at === null ? 'It has not called yet.' : `Its last call was ${ago(network.last_received_at)}.`
  return (
    <>
      <PageHeader title={network.name} words={`${TEMPLATE_LABELS[network.template].name}. ${heard}`}>
        <Link to="/refused-events" search={{ network: network.id }} className="text-accent hover:underline">
          What it sent that was refused
        </Link>
      </PageHeader>
      <AddressSetting network={network} />
      <form
        onSubmit={event => {
          event.preventDefault()
          save.mutate()
        }}
      >
        <Setting
          title="Who it is"
          words="Calls from addresses that are not on the list are refused and kept. Empty: anyone may call."
        >
          <div className="flex flex-col gap-4">
            <TextField label="Name" value={now.name} onChange={event => set({ name: event.target.value })} />
            <Lines
              label="IP addresses and ranges"
              hint="One a line, such as 203.0.113.0/24."
              value={now.ips}
              onChange={ips => set({ ips })}
            />
            <Checkbox
              label="Active"
              words="While it is off, calls are answered, kept as refused and recorded as nothing."
              checked={now.active}
              onChange={event => set({ active: event.target.checked })}
            />
          </div>
        </Setting>
        <Setting
          title="Parameters"
          words="Each is read from the first of these names that the call brings. The first one stands in the address."
        >
          <ParameterFields map={now.parameters} onChange={parameters => set({ parameters })} />
        </Setting>
        <CurrencySetting network={now} onChange={set} />
        <Setting
          title="Statuses"
          words="What the network’s words stand for, in any case, separated by commas. A word that is not here is answered, kept as refused and recorded as nothing."
        >
          <StatusFields
            statuses={now.statuses}
            defaultType={now.default_type}
            unpaidTypes={now.unpaid_types}
            onChange={set}
          />
        </Setting>
        <Setting
          title="After the fact"
          words="What was recorded can be approved, taken back or changed later by the words above. Without this, an approved amount stays."
        >
          <AfterTheFact network={now} onChange={set} />
        </Setting>
        <Setting title="Try a call" words="How it is read by the parameters and statuses above, saved or not.">
          <TryCall network={now} />
        </Setting>
        <div className="flex flex-wrap items-center justify-end gap-3 border-t border-line py-4">
          <RefusalNote refused={save.error} />
          <Button type="submit" look="primary" pending={save.isPending} reason={reason}>
            Save network
          </Button>
        </div>
      </form>
      <EndSetting network={network} />
    </>
  )
}

function Lines({
  label,
  hint,
  value,
  onChange,
}: {
  label: string
  hint: string
  value: readonly string[]
  onChange: (lines: string[]) => void
}) {
  const [text, setText] = useState(value.join('\n'))
  return (
    <TextArea
      label={label}
      hint={hint}
      rows={3}
      spellCheck={false}
      className="[&_textarea]:font-mono"
      value={text}
      onChange={event => {
        setText(event.target.value)
        onChange(event.target.value.split(/[\s,]+/).filter(line => line !== ''))
      }}
    />
  )
}

function AddressSetting({ network }: { network: NetworkRow }) {
  const queries = useQueryClient()
  const confirm = useConfirm()
  const { role } = useActive()
  const rotate = () =>
    confirm({
      title: `Give ${network.name} a new address?`,
      words: 'The old one works for another 24 hours, so that you can enter the new one without a gap.',
      action: 'New address',
      look: 'primary',
      deed: async () => {
        await call(rotateNetworkToken, { params: { id: network.id }, body: {} })
        await queries.invalidateQueries({ queryKey: [readNetwork.route] })
        notify('The network has a new address')
      },
    })
  return (
    <Setting
      title="Address"
      words="Whoever knows it can record conversions here. Where the network writes its macros otherwise, write them its way."
    >
      <div className="flex flex-col gap-3">
        <CodeBlock
          label="Postback address, to enter at the network"
          text={addressOf({ url: network.postback_url })}
          reason={reasonAgainstCopying(network)}
        />
        {network.token_withheld && <p className="text-sm text-ink-faint">{WITHHELD}</p>}
        <CodeBlock label="To add to the offer’s address here" text={network.offer_parameter} />
        <div>
          <Button reason={reasonAgainst(rotateNetworkToken, role)} onClick={rotate}>
            New address
          </Button>
        </div>
      </div>
    </Setting>
  )
}

function EndSetting({ network }: { network: NetworkRow }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const confirm = useConfirm()
  const { role } = useActive()
  const remove = () =>
    confirm({
      title: `Delete ${network.name}?`,
      words: 'Its address is unknown from then on. What it has reported stays.',
      action: 'Delete network',
      deed: async () => {
        await call(deleteNetwork, { params: { id: network.id } })
        await queries.invalidateQueries({ queryKey: [listNetworks.route] })
        notify(`${network.name} is deleted`)
        await navigate({ to: '/networks', search: {} })
      },
    })
  return (
    <Setting title="Delete" danger words="For a network you no longer work with.">
      <Button look="danger" reason={reasonAgainst(deleteNetwork, role)} onClick={remove}>
        Delete network
      </Button>
    </Setting>
  )
}
