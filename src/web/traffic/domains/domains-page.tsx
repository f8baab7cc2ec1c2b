/** Settings, domains: the workspace's own names for campaign links. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Globe, RefreshCw, Star } from 'lucide-react'
import { checkDomain, createDomain, DOMAIN_STATUSES, listDomains, updateDomain } from '../../../traffic/domains/api.ts'
import { reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { ago, count, NONE } from '../../ground/figures/figures.ts'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { useListAddress } from '../../ground/ui/list.tsx'
import { ListPage, NameAndStatus } from '../../ground/ui/list-page.tsx'
import { MenuItem } from '../../ground/ui/menu.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { RowMenu } from '../../ground/ui/row-menu.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { AddDomainsDialog } from './add-dialog.tsx'
import { DeleteDomainItem } from './delete.tsx'
import { placeInWords } from './place-fields.tsx'
import { CertificateBadge, type DomainRow, FlaggedBadge, PointingBadge, SHOW_DOMAINS } from './state.tsx'

const route = getRouteApi('/inside/settings/domains')

/** A domain that waits for its DNS is reloaded, because somebody may be watching. */
const REFETCH_MS = 5000

export function DomainsPage() {
  const address = useListAddress(route.useSearch())
  const domains = useQuery({
    ...ask(listDomains, { query: address.search }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.data.some(({ status }) => status === 'pending') ? REFETCH_MS : false),
  })
  return (
    <ListPage
      title="Domains"
      words="Your own domains for campaign links. Every campaign works on each of them."
      filters={<NameAndStatus address={address} statuses={DOMAIN_STATUSES} />}
      query={domains}
      address={address}
      empty={{
        icon: Globe,
        words:
          'Use your own domain for campaign links, so that its reputation is yours alone. You can replace a flagged domain without breaking running ads.',
      }}
      add={{
        endpoint: createDomain,
        words: 'Add domains',
        dialog: ({ open, onClose }) => <AddDomainsDialog open={open} onClose={onClose} />,
      }}
    >
      {rows => (
        <Table caption="Domains">
          <thead>
            <tr>
              <Head stay>Name</Head>
              <Head>DNS</Head>
              <Head>Certificate</Head>
              <Head>At /</Head>
              <Head numeric title="Campaigns whose link uses it">
                Campaigns
              </Head>
              <Head>Last visit</Head>
              <ActionHead />
            </tr>
          </thead>
          <tbody>
            {rows.map(domain => (
              <DomainLine key={domain.id} domain={domain} />
            ))}
          </tbody>
        </Table>
      )}
    </ListPage>
  )
}

function DomainLine({ domain }: { domain: DomainRow }) {
  const { id, name, unicode_name, is_default, campaigns, last_visit_at, root, status } = domain
  const refresh = useRefresh()
  const { role } = useActive()
  const makeDefault = async () => {
    await call(updateDomain, { params: { id }, body: { is_default: true } })
    await refresh(...SHOW_DOMAINS)
    notify(`${unicode_name} is the default domain`, 'Links of campaigns without their own domain use it.')
  }
  const checkNow = async () => {
    await call(checkDomain, { params: { id } })
    await refresh(...SHOW_DOMAINS)
  }
  const isServed = status === 'active' || status === 'failing'
  return (
    <Row>
      <RowHead stay className="max-w-52 truncate sm:max-w-80" title={name}>
        <span className="inline-flex max-w-full items-center gap-1.5 align-middle">
          <Link to="/settings/domains/$id" params={{ id }} className="truncate text-accent hover:underline">
            {unicode_name}
          </Link>
          {is_default && (
            <span title="Links of campaigns without their own domain use it">
              <Star aria-hidden className="size-3.5 shrink-0 fill-accent text-accent" />
              <span className="sr-only">Default</span>
            </span>
          )}
          <span className="max-sm:hidden">
            <CopyButton text={name} look="quiet" about={name} />
          </span>
        </span>
      </RowHead>
      <Cell>
        <span className="inline-flex gap-1.5">
          <PointingBadge domain={domain} />
          <FlaggedBadge domain={domain} />
        </span>
      </Cell>
      <Cell>
        {status === 'pending' ? <span className="text-ink-faint">{NONE}</span> : <CertificateBadge domain={domain} />}
      </Cell>
      <Cell faint={root.type === 'not_found'} className="max-w-60 truncate">
        {placeInWords(root)}
      </Cell>
      <Cell numeric faint={campaigns === 0}>
        {campaigns === 0 ? NONE : count(campaigns)}
      </Cell>
      <Cell faint={last_visit_at === null}>{last_visit_at === null ? NONE : ago(last_visit_at)}</Cell>
      <ActionCell>
        <RowMenu name={unicode_name}>
          <MenuItem icon={RefreshCw} reason={reasonAgainst(checkDomain, role)} onSelect={() => void checkNow()}>
            Check now
          </MenuItem>
          <MenuItem
            icon={Star}
            reason={
              reasonAgainst(updateDomain, role) ??
              (is_default ? 'It is the default already.' : isServed ? undefined : 'It does not lead here yet.')
            }
            onSelect={() => void makeDefault()}
          >
            Make default
          </MenuItem>
          <DeleteDomainItem domain={domain} />
        </RowMenu>
      </ActionCell>
    </Row>
  )
}
