/** Settings, Team: the members with their roles, and the open invitations. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus, UserMinus } from 'lucide-react'
import { useState } from 'react'
import type { z } from 'zod'
import type { Role } from '../../../contract/endpoint.ts'
import {
  createInvitation,
  deleteMember,
  listInvitations,
  listMembers,
  listOrganizations,
  type TeamMember,
  setMemberRole,
} from '../../../people/organizations/api.ts'
import { onlyFor, reasonAgainst, useActive } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { day } from '../../ground/figures/figures.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { Face } from '../../ground/ui/face.tsx'
import { SelectField } from '../../ground/ui/field.tsx'
import { Loaded, PageHeader, Section } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { InvitationList, InviteDialog } from './invitations.tsx'

type MemberRow = z.input<typeof TeamMember>

export function TeamPage() {
  const { role } = useActive()
  const members = useQuery(ask(listMembers))
  const [inviting, setInviting] = useState(false)
  return (
    <>
      <PageHeader
        title="Team"
        words="A key acts with its owner’s role. When a person stops being owner or admin, their keys and open invitations stop working."
      >
        <Button
          look="primary"
          icon={Plus}
          reason={reasonAgainst(createInvitation, role)}
          onClick={() => setInviting(true)}
        >
          Invite
        </Button>
      </PageHeader>
      <Section title="Members">
        <Loaded query={members}>{({ data }) => <Members members={data} mine={role} />}</Loaded>
      </Section>
      {role !== 'member' && <InvitationList mine={role} />}
      <InviteDialog open={inviting} onClose={() => setInviting(false)} mine={role} />
    </>
  )
}

function Members({ members, mine }: { members: readonly MemberRow[]; mine: Role }) {
  return (
    <Table caption="Members">
      <thead>
        <tr>
          <Head>Name</Head>
          <Head>E-mail</Head>
          <Head>Role</Head>
          {mine !== 'member' && <Head>Second factor</Head>}
          <Head>Joined</Head>
          <Head unseen>Actions</Head>
        </tr>
      </thead>
      <tbody>
        {members.map(member => (
          <Row key={member.id}>
            <RowHead>
              <span className="flex items-center gap-2.5">
                <Face name={member.name} image={member.image} />
                <span>
                  {member.name}
                  {member.is_you && <span className="font-normal text-ink-faint"> (you)</span>}
                </span>
              </span>
            </RowHead>
            <Cell>{member.email}</Cell>
            <Cell>
              <RoleChoice member={member} mine={mine} />
            </Cell>
            {mine !== 'member' && (
              <Cell>{member.has_second_factor ? <Badge tone="good">On</Badge> : <Badge>None</Badge>}</Cell>
            )}
            <Cell>{day(member.joined_at)}</Cell>
            <Cell className="text-right">
              <Link
                to="/history"
                search={{ actor: member.user_id }}
                className="mr-3 text-accent hover:underline"
                aria-label={`What ${member.name} changed`}
              >
                History
              </Link>
              <Removal member={member} mine={mine} />
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  )
}

function RoleChoice({ member, mine }: { member: MemberRow; mine: Role }) {
  const refresh = useRefresh()
  const change = useMutation({
    mutationFn: (role: Role) => call(setMemberRole, { params: { id: member.id }, body: { role } }),
    onSuccess: async saved => {
      await refresh(listMembers, listInvitations)
      if (saved.is_you) await refresh(listOrganizations)
      notify(`${saved.name} is now ${saved.role === 'member' ? 'a member' : `an ${saved.role}`}`)
    },
  })
  const reason =
    reasonAgainst(setMemberRole, mine) ??
    (member.role === 'owner' && mine !== 'owner' ? onlyFor('owner', mine) : undefined)
  if (reason !== undefined)
    return (
      <span title={reason} className="capitalize">
        {member.role}
      </span>
    )
  return (
    <SelectField
      label={`Role of ${member.name}`}
      hideLabel
      className="w-32"
      value={member.role}
      disabled={change.isPending}
      error={change.error?.message}
      onChange={event => change.mutate(event.target.value as Role)}
    >
      <option value="owner" disabled={mine !== 'owner'}>
        Owner
      </option>
      <option value="admin">Admin</option>
      <option value="member">Member</option>
    </SelectField>
  )
}

function Removal({ member, mine }: { member: MemberRow; mine: Role }) {
  const queries = useQueryClient()
  const refresh = useRefresh()
  const confirm = useConfirm()
  const reason = member.is_you
    ? undefined
    : mine === 'member'
      ? onlyFor('admin', mine)
      : member.role === 'owner' && mine !== 'owner'
        ? onlyFor('owner', mine)
        : undefined
  return (
    <Button
      size="sm"
      look="danger-quiet"
      icon={UserMinus}
      reason={reason}
      aria-label={member.is_you ? 'Leave the workspace' : `Remove ${member.name}`}
      onClick={() =>
        confirm({
          title: member.is_you ? 'Leave the workspace?' : `Remove ${member.name}?`,
          words: member.is_you
            ? 'Your keys stop working in this workspace at once. You need an invitation to come back.'
            : 'They lose access at once. Their keys stop working in this workspace, and their open invitations are withdrawn.',
          action: member.is_you ? 'Leave' : 'Remove',
          deed: async () => {
            await call(deleteMember, { params: { id: member.id } })
            if (member.is_you) return queries.resetQueries()
            await refresh(listMembers, listInvitations)
            notify(`${member.name} is removed`)
          },
        })
      }
    >
      {member.is_you ? 'Leave' : 'Remove'}
    </Button>
  )
}
