/** Settings, API keys: the list of keys, with the actions on each, and the button that creates one. */
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import {
  Ban,
  BookOpen,
  CalendarClock,
  CirclePause,
  CirclePlay,
  Eraser,
  KeyRound,
  Plus,
  SlidersHorizontal,
} from 'lucide-react'
import { useState } from 'react'
import { listKeys } from '../../../people/keys/api.ts'
import { ask } from '../../ground/call.ts'
import { ago, day, moment } from '../../ground/figures/figures.ts'
import { Button, buttonLook } from '../../ground/ui/button.tsx'
import { MenuItem, MenuLine } from '../../ground/ui/menu.tsx'
import { Loaded, EmptyState, PageHeader } from '../../ground/ui/page.tsx'
import { RowMenu } from '../../ground/ui/row-menu.tsx'
import { ActionCell, ActionHead, Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { CreateKey } from './create-key.tsx'
import { ExpiryDialog, useKeyDeeds } from './deeds.tsx'
import { type KeyRow, PermissionBadge, reasonNotMine, KeyStateBadge } from './states.tsx'

export function KeysPage() {
  const keys = useQuery(ask(listKeys))
  const [creating, setCreating] = useState(false)
  return (
    <>
      <PageHeader
        title="API keys"
        words="A key lets a server report conversions, read the report and the click feed, or change campaigns, as far as its permissions allow."
      >
        <a href="/api/docs" target="_blank" rel="noreferrer" className={buttonLook('plain')}>
          <BookOpen aria-hidden className="size-3.5" />
          API reference
        </a>
        <Button look="primary" icon={Plus} onClick={() => setCreating(true)}>
          Create key
        </Button>
      </PageHeader>
      <Loaded query={keys}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState
              icon={KeyRound}
              title="No keys yet"
              words="Create one for each system that reports conversions or reads your numbers."
            >
              <Button icon={Plus} onClick={() => setCreating(true)}>
                Create key
              </Button>
            </EmptyState>
          ) : (
            <KeyTable keys={data} />
          )
        }
      </Loaded>
      <CreateKey open={creating} onClose={() => setCreating(false)} />
    </>
  )
}

function KeyTable({ keys }: { keys: readonly KeyRow[] }) {
  const severalOwners = keys.some(key => !key.is_yours)
  return (
    <Table caption="API keys">
      <thead>
        <tr>
          <Head stay>Name</Head>
          <Head>State</Head>
          <Head>Permissions</Head>
          <Head>Workspace</Head>
          {severalOwners && <Head>Owner</Head>}
          <Head>Begins with</Head>
          <Head>Created</Head>
          <Head>Last used</Head>
          <ActionHead />
        </tr>
      </thead>
      <tbody>
        {keys.map(key => (
          <KeyLine key={key.id} apiKey={key} withOwner={severalOwners} />
        ))}
      </tbody>
    </Table>
  )
}

function KeyLine({ apiKey, withOwner }: { apiKey: KeyRow; withOwner: boolean }) {
  return (
    <Row className={apiKey.state === 'revoked' ? 'text-ink-faint' : ''}>
      <RowHead stay className="max-w-64 truncate">
        <Link to="/settings/api-keys/$id" params={{ id: apiKey.id }} className="underline-offset-2 hover:underline">
          {apiKey.name}
        </Link>
      </RowHead>
      <Cell>
        <KeyStateBadge state={apiKey.state} />
      </Cell>
      <Cell>
        <PermissionBadge state={apiKey.permission_state} />
      </Cell>
      <Cell className="max-w-44 truncate">{apiKey.organization?.name ?? '—'}</Cell>
      {withOwner && (
        <Cell className="max-w-44 truncate" title={apiKey.owner.email}>
          {apiKey.is_yours ? 'You' : apiKey.owner.name}
        </Cell>
      )}
      {apiKey.kind === 'connection' ? (
        <Cell faint>Connection</Cell>
      ) : (
        <Cell className="font-mono text-sm">{apiKey.first_characters}…</Cell>
      )}
      <Cell title={moment(apiKey.created_at)}>{day(apiKey.created_at)}</Cell>
      <Cell
        title={apiKey.last_used_at === null ? undefined : moment(apiKey.last_used_at)}
        faint={apiKey.last_used_at === null}
      >
        {apiKey.last_used_at === null ? 'Never' : ago(apiKey.last_used_at)}
      </Cell>
      <ActionCell>{apiKey.state !== 'revoked' && <KeyMenu apiKey={apiKey} />}</ActionCell>
    </Row>
  )
}

function KeyMenu({ apiKey }: { apiKey: KeyRow }) {
  const navigate = useNavigate()
  const deeds = useKeyDeeds(apiKey)
  const [expiry, setExpiry] = useState(false)
  const reason = reasonNotMine(apiKey)
  return (
    <>
      <RowMenu name={apiKey.name}>
        <MenuItem
          icon={SlidersHorizontal}
          reason={reason}
          onSelect={() =>
            void navigate({ to: '/settings/api-keys/$id', params: { id: apiKey.id }, search: { grant: true } })
          }
        >
          Edit permissions
        </MenuItem>
        <MenuItem icon={Eraser} reason={reason} onSelect={deeds.emptyPermissions}>
          Revoke all permissions
        </MenuItem>
        <MenuLine />
        {apiKey.state === 'disabled' ? (
          <MenuItem icon={CirclePlay} reason={reason} onSelect={deeds.enable}>
            Enable
          </MenuItem>
        ) : (
          <MenuItem icon={CirclePause} reason={reason} onSelect={deeds.disable}>
            Disable
          </MenuItem>
        )}
        <MenuItem icon={CalendarClock} reason={reason} onSelect={() => setExpiry(true)}>
          Set expiry
        </MenuItem>
        <MenuLine />
        <MenuItem icon={Ban} danger onSelect={deeds.revoke}>
          Revoke key
        </MenuItem>
      </RowMenu>
      <ExpiryDialog apiKey={apiKey} open={expiry} onClose={() => setExpiry(false)} />
    </>
  )
}
