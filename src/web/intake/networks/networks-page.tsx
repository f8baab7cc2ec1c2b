/** The affiliate networks that report conversions by postback, and when each last called. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { RadioTower } from 'lucide-react'
import type { z } from 'zod'
import {
  createNetwork,
  listNetworks,
  type Network,
  NetworkDraft,
  TEMPLATE_LABELS,
  TEMPLATE_NAMES,
} from '../../../intake/networks/api.ts'
import { ask, call } from '../../ground/call.ts'
import { ago, count, moment, NONE } from '../../ground/figures/figures.ts'
import { CurrencyField } from '../../ground/original.tsx'
import { Badge } from '../../ground/ui/badge.tsx'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { noneIfBlank, useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { useListAddress } from '../../ground/ui/list.tsx'
import { ListPage } from '../../ground/ui/list-page.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { addressOf } from '../../traffic/campaigns/address.tsx'
import { reasonAgainstCopying } from './withheld.ts'

type NetworkRow = z.input<typeof Network>

const route = getRouteApi('/inside/networks')

export function NetworksPage() {
  const address = useListAddress(route.useSearch())
  const networks = useQuery({ ...ask(listNetworks, { query: address.search }), placeholderData: keepPreviousData })
  return (
    <ListPage
      title="Networks"
      words="Affiliate networks report conversions by postback. Each network has its own postback URL and status mapping."
      query={networks}
      address={address}
      empty={{
        icon: RadioTower,
        words: 'Add the network whose offers you run, then enter its postback URL there.',
      }}
      add={{
        endpoint: createNetwork,
        words: 'New network',
        dialog: ({ open, onClose }) => (
          <Dialog open={open} onClose={onClose} title="New network">
            <NewNetworkForm onClose={onClose} />
          </Dialog>
        ),
      }}
    >
      {rows => <NetworkTable networks={rows} />}
    </ListPage>
  )
}

function NetworkTable({ networks }: { networks: readonly NetworkRow[] }) {
  return (
    <Table caption="Networks">
      <thead>
        <tr>
          <Head stay>Name</Head>
          <Head>State</Head>
          <Head>Style</Head>
          <Head>Last postback</Head>
          <Head numeric>Waiting</Head>
          <Head>Allowed IPs</Head>
          <ActionHead>Postback URL</ActionHead>
        </tr>
      </thead>
      <tbody>
        {networks.map(network => (
          <Row key={network.id}>
            <RowHead stay className="max-w-36 truncate sm:max-w-60" title={network.name}>
              <Link to="/networks/$id" params={{ id: network.id }} className="text-accent hover:underline">
                {network.name}
              </Link>
            </RowHead>
            <Cell>{network.active ? <Badge tone="good">Active</Badge> : <Badge tone="warn">Off</Badge>}</Cell>
            <Cell>{TEMPLATE_LABELS[network.template].name}</Cell>
            <Cell
              faint={network.last_received_at === null}
              title={network.last_received_at === null ? undefined : moment(network.last_received_at)}
            >
              {network.last_received_at === null ? 'Never' : ago(network.last_received_at)}
            </Cell>
            <Cell numeric faint={network.waiting === 0}>
              {network.waiting === 0 ? NONE : count(network.waiting)}
            </Cell>
            <Cell>{network.ips.length === 0 ? 'Any' : `${network.ips.length} listed`}</Cell>
            <ActionCell>
              <CopyButton
                text={addressOf({ url: network.postback_url })}
                label="Copy URL"
                about={`of ${network.name}`}
                look="quiet"
                reason={reasonAgainstCopying(network)}
              />
            </ActionCell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

function NewNetworkForm({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate()
  const form = useDraft<z.input<typeof NetworkDraft>>(NetworkDraft, { name: '', template: 'keitaro', currency: null })
  return (
    <DraftForm
      form={form}
      action="Add network"
      endpoint={createNetwork}
      deed={body => call(createNetwork, { body })}
      refresh={[listNetworks]}
      onClose={onClose}
      onSaved={({ id }) => void navigate({ to: '/networks/$id', params: { id } })}
    >
      <TextField
        label="Name"
        autoComplete="off"
        error={form.formState.errors.name?.message}
        {...form.register('name')}
      />
      <SelectField label="Style" hint={TEMPLATE_LABELS[form.watch('template')].words} {...form.register('template')}>
        {TEMPLATE_NAMES.map(name => (
          <option key={name} value={name}>
            {TEMPLATE_LABELS[name].name}
          </option>
        ))}
      </SelectField>
      <CurrencyField
        label="Currency"
        placeholder="USD"
        hint="Used when a postback names no currency. Other currencies are converted to US dollars at the rate of the day."
        error={form.formState.errors.currency?.message}
        {...form.register('currency', noneIfBlank)}
      />
    </DraftForm>
  )
}
