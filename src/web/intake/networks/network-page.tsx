/** One network: its postback URL, how its postbacks are read, and which IP addresses may call. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { z } from 'zod'
import {
  setNetworkTags,
  setNetworkNote,
  readNetwork,
  listNetworks,
  deleteNetwork,
  type Network,
  type NetworkChanges,
  rotateNetworkToken,
  TEMPLATE_LABELS,
  updateNetwork,
} from '../../../intake/networks/api.ts'
import { LabelFields } from '../../ground/many/label-fields.tsx'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { ago } from '../../ground/figures/figures.ts'
import { ObjectHistory } from '../../ground/history/object-history.tsx'
import { BackLink } from '../../ground/ui/back-link.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { CodeBlock } from '../../ground/ui/copy.tsx'
import { Checkbox, TextArea, TextField } from '../../ground/ui/field.tsx'
import { Loaded, PageHeader, Setting } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RefusalNote } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { useChanges } from '../../ground/ui/unsaved.ts'
import { addressOf } from '../../traffic/campaigns/address.tsx'
import { CurrencySetting } from './currency-setting.tsx'
import { ParameterFields, StatusFields } from './maps.tsx'
import { PostbackTest, StatusChanges } from './status-changes.tsx'
import { reasonAgainstCopying, WITHHELD } from './withheld.ts'

type NetworkRow = z.input<typeof Network>
type Changes = z.input<typeof NetworkChanges>

const route = getRouteApi('/inside/networks/$id')

export function NetworkPage() {
  const { id } = route.useParams()
  const network = useQuery(ask(readNetwork, { params: { id } }))
  return (
    <>
      <BackLink to="/networks">Networks</BackLink>
      <Loaded query={network} title="Network">
        {found => <NetworkSettings key={found.updated_at} network={found} />}
      </Loaded>
      {network.data !== undefined && (
        <Setting title="Tags and note" words="For lists, reports and your team. Part of no address.">
          <LabelFields
            of={network.data}
            setTags={setNetworkTags}
            setNote={setNetworkNote}
            shownIn={[readNetwork, listNetworks]}
          />
        </Setting>
      )}
      <ObjectHistory kind="network" id={id} />
    </>
  )
}

function NetworkSettings({ network }: { network: NetworkRow }) {
  const refresh = useRefresh()
  const { role } = useActive()
  const { changes, now, set, clear } = useChanges<NetworkRow, Changes>(network, 'the network')
  const save = useMutation({
    mutationFn: () => call(updateNetwork, { params: { id: network.id }, body: changes }),
    onSuccess: async () => {
      await refresh(readNetwork, listNetworks)
      clear()
      notify('The network is saved')
    },
  })
  const reason = reasonAgainst(updateNetwork, role)
  const lastCall =
    network.last_received_at === null ? 'No postback yet.' : `Last postback ${ago(network.last_received_at)}.`
  return (
    <>
      <PageHeader title={network.name} words={`${TEMPLATE_LABELS[network.template].name}. ${lastCall}`}>
        <Link to="/networks/$id/reconcile" params={{ id: network.id }} className="text-accent hover:underline">
          Reconcile
        </Link>
        <Link to="/refused-events" search={{ network: network.id }} className="text-accent hover:underline">
          Refused postbacks
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
          title="Network"
          words="Postbacks from an IP address that is not listed are refused and kept. Blank: every IP address is allowed."
        >
          <div className="flex flex-col gap-4">
            <TextField label="Name" value={now.name} onChange={event => set({ name: event.target.value })} />
            <Lines
              label="Allowed IPs"
              hint="One address or range per line, such as 203.0.113.0/24."
              value={now.ips}
              onChange={ips => set({ ips })}
            />
            <Checkbox
              label="Active"
              words="Off: postbacks are answered and kept under Refused, and nothing is recorded."
              checked={now.active}
              onChange={event => set({ active: event.target.checked })}
            />
          </div>
        </Setting>
        <Setting
          title="Parameters"
          words="Each field is read from the first of these names in the postback. The first name is used in the postback URL."
        >
          <ParameterFields map={now.parameters} onChange={parameters => set({ parameters })} />
        </Setting>
        <CurrencySetting network={now} onChange={set} />
        <Setting
          title="Statuses"
          words="The network’s statuses, separated by commas, in upper or lower case. A status that is not listed is kept under Refused, and nothing is recorded."
        >
          <StatusFields
            statuses={now.statuses}
            defaultType={now.default_type}
            unpaidTypes={now.unpaid_types}
            onChange={set}
          />
        </Setting>
        <Setting
          title="Status changes"
          words="The statuses above can approve, hold or reject a recorded conversion. These settings say what else may change it."
        >
          <StatusChanges network={now} onChange={set} />
        </Setting>
        <Setting
          title="Test a postback"
          words="Shows how a postback is read by the parameters and statuses above, saved or not."
        >
          <PostbackTest network={now} />
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
  const refresh = useRefresh()
  const confirm = useConfirm()
  const { role } = useActive()
  const rotate = () =>
    confirm({
      title: `Give ${network.name} a new postback URL?`,
      words: 'The old one works for another 24 hours, so that you can enter the new one without a gap.',
      action: 'New URL',
      look: 'primary',
      deed: async () => {
        await call(rotateNetworkToken, { params: { id: network.id }, body: {} })
        await refresh(readNetwork)
        notify('The network has a new postback URL')
      },
    })
  return (
    <Setting
      title="Postback URL"
      words="Anyone who knows this URL can record conversions. If the network writes its macros differently, change them to its form."
    >
      <div className="flex flex-col gap-3">
        <CodeBlock
          label="Postback URL, to enter at the network"
          text={addressOf({ url: network.postback_url })}
          reason={reasonAgainstCopying(network)}
        />
        {network.token_withheld && <p className="text-sm text-ink-faint">{WITHHELD}</p>}
        <CodeBlock label="Parameter to add to the offer’s URL" text={network.offer_parameter} />
        <div>
          <Button reason={reasonAgainst(rotateNetworkToken, role)} onClick={rotate}>
            New URL
          </Button>
        </div>
      </div>
    </Setting>
  )
}

function EndSetting({ network }: { network: NetworkRow }) {
  const refresh = useRefresh()
  const navigate = useNavigate()
  const confirm = useConfirm()
  const { role } = useActive()
  const remove = () =>
    confirm({
      title: `Delete ${network.name}?`,
      words: 'Its postback URL stops working. Its conversions stay.',
      action: 'Delete network',
      deed: async () => {
        await call(deleteNetwork, { params: { id: network.id } })
        await refresh(listNetworks)
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
