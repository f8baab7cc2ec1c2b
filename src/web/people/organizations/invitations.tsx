/** Invitations: making one, its link, withdrawing it. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import type { Role } from '../../../contract/endpoint.ts'
import {
  createInvitation,
  InvitationDraft,
  listInvitations,
  withdrawInvitation,
} from '../../../people/organizations/api.ts'
import { ask, call } from '../../ground/call.ts'
import { day, moment } from '../../ground/figures/figures.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { Asked, Section } from '../../ground/ui/page.tsx'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { ROLE_WORDS } from './roles.ts'

const linkOf = (id: string) => `${location.origin}/invitations/${id}`

export function InvitationList() {
  const invitations = useQuery(ask(listInvitations))
  return (
    <Section
      title="Invitations"
      words="The link is all that is needed together with the invited address; it works for 7 days."
    >
      <Asked query={invitations}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="text-ink-faint">None is open.</p>
          ) : (
            <Table caption="Open invitations">
              <thead>
                <tr>
                  <Head>E-mail</Head>
                  <Head>Role</Head>
                  <Head>Invited by</Head>
                  <Head>Until</Head>
                  <Head unseen>Actions</Head>
                </tr>
              </thead>
              <tbody>
                {data.map(invitation => (
                  <Row key={invitation.id}>
                    <RowHead>{invitation.email}</RowHead>
                    <Cell className="capitalize">{invitation.role}</Cell>
                    <Cell>{invitation.invited_by}</Cell>
                    <Cell title={moment(invitation.expires_at)}>
                      {invitation.state === 'expired' ? <Badge tone="warn">Expired</Badge> : day(invitation.expires_at)}
                    </Cell>
                    <Cell>
                      <span className="flex justify-end gap-1">
                        {invitation.state === 'pending' && (
                          <CopyButton text={linkOf(invitation.id)} label="Copy link" look="quiet" />
                        )}
                        <Withdrawal id={invitation.id} email={invitation.email} />
                      </span>
                    </Cell>
                  </Row>
                ))}
              </tbody>
            </Table>
          )
        }
      </Asked>
    </Section>
  )
}

function Withdrawal({ id, email }: { id: string; email: string }) {
  const queries = useQueryClient()
  const confirm = useConfirm()
  return (
    <Button
      size="sm"
      look="danger-quiet"
      aria-label={`Withdraw the invitation of ${email}`}
      onClick={() =>
        confirm({
          title: `Withdraw the invitation of ${email}?`,
          words: 'Its link stops working at once.',
          action: 'Withdraw',
          deed: async () => {
            await call(withdrawInvitation, { params: { id } })
            await queries.invalidateQueries({ queryKey: [listInvitations.route] })
            notify(`The invitation of ${email} is withdrawn`)
          },
        })
      }
    >
      Withdraw
    </Button>
  )
}

const MAIL_WORDS = {
  sent: 'A mail with this link is on its way.',
  logged: 'No mail server is set up: send the link yourself. It is also in the log of the service.',
  failed: 'The mail could not be sent: send the link yourself.',
} as const

export function InviteDialog({ open, onClose, mine }: { open: boolean; onClose: () => void; mine: Role }) {
  const [made, setMade] = useState<{ id: string; email: string; mail: keyof typeof MAIL_WORDS }>()
  const close = () => {
    onClose()
    setMade(undefined)
  }
  return (
    <Dialog
      open={open}
      onClose={close}
      title={made === undefined ? 'Invite to the workspace' : `${made.email} is invited`}
    >
      {made === undefined ? (
        <InviteForm mine={mine} onClose={close} onMade={setMade} />
      ) : (
        <>
          <DialogBody>
            <Note kind={made.mail === 'sent' ? 'plain' : 'warning'}>{MAIL_WORDS[made.mail]}</Note>
            <TextField
              label="Link"
              readOnly
              value={linkOf(made.id)}
              onFocus={event => event.target.select()}
              className="[&_input]:font-mono"
            />
          </DialogBody>
          <DialogFoot>
            <CopyButton text={linkOf(made.id)} label="Copy link" size="md" />
            <Button look="primary" onClick={close}>
              Done
            </Button>
          </DialogFoot>
        </>
      )}
    </Dialog>
  )
}

type Made = z.input<(typeof createInvitation)['reply']>

function InviteForm({ mine, onClose, onMade }: { mine: Role; onClose: () => void; onMade: (made: Made) => void }) {
  const queries = useQueryClient()
  const form = useDraft(InvitationDraft, { email: '', role: 'member' })
  const invite = useMutation({
    mutationFn: (body: z.input<typeof InvitationDraft>) => call(createInvitation, { body }),
    onSuccess: async made => {
      onMade(made)
      await queries.invalidateQueries({ queryKey: [listInvitations.route] })
    },
  })
  return (
    <DialogForm onSubmit={submits(form, draft => invite.mutate(draft))}>
      <DialogBody>
        <TextField
          label="E-mail"
          type="email"
          autoComplete="off"
          error={form.formState.errors.email?.message}
          {...form.register('email')}
        />
        <SelectField
          label="Role"
          hint={ROLE_WORDS[form.watch('role') ?? 'member']}
          error={form.formState.errors.role?.message}
          {...form.register('role')}
        >
          <option value="member">Member</option>
          <option value="admin">Admin</option>
          <option value="owner" disabled={mine !== 'owner'}>
            Owner
          </option>
        </SelectField>
        <RefusalNote refused={invite.error} />
      </DialogBody>
      <SaveFoot action="Invite" pending={invite.isPending} onCancel={onClose} />
    </DialogForm>
  )
}
