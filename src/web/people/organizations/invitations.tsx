/** The open invitations: create one, replace its link, withdraw it. Each link is shown once. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import type { Role } from '../../../contract/endpoint.ts'
import {
  createInvitation,
  type Invitation,
  InvitationDraft,
  listInvitations,
  withdrawInvitation,
} from '../../../people/organizations/api.ts'
import { onlyFor } from '../../ground/active.ts'
import { ask, call } from '../../ground/call.ts'
import { day, moment } from '../../ground/figures/figures.ts'
import { Badge } from '../../ground/ui/badge.tsx'
import { Button } from '../../ground/ui/button.tsx'
import { useConfirm } from '../../ground/ui/confirm.tsx'
import { CopyButton } from '../../ground/ui/copy.tsx'
import { Dialog, DialogBody, DialogFoot, DialogForm, SaveFoot } from '../../ground/ui/dialog.tsx'
import { submits, useDraft } from '../../ground/ui/draft.ts'
import { SelectField, TextField } from '../../ground/ui/field.tsx'
import { Loaded, Section } from '../../ground/ui/page.tsx'
import { useRefresh } from '../../ground/ui/refresh.ts'
import { Note, RefusalNote } from '../../ground/ui/refusal.tsx'
import { Cell, Head, Row, RowHead, Table } from '../../ground/ui/table.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { ROLE_WORDS } from './roles.ts'

type CreatedInvitation = z.input<(typeof createInvitation)['reply']>
type OpenInvitation = z.input<typeof Invitation>

export function InvitationList({ mine }: { mine: Role }) {
  const invitations = useQuery(ask(listInvitations))
  const [created, setCreated] = useState<CreatedInvitation>()
  return (
    <Section title="Invitations" words="A link works once, for 7 days, and only for the invited address.">
      {created !== undefined && <CreatedDialog created={created} onClose={() => setCreated(undefined)} />}
      <Loaded query={invitations}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="text-ink-faint">No open invitations.</p>
          ) : (
            <Table caption="Open invitations">
              <thead>
                <tr>
                  <Head>E-mail</Head>
                  <Head>Role</Head>
                  <Head>Invited by</Head>
                  <Head>Expires</Head>
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
                      {invitation.state === 'expired' ? (
                        <Badge tone="warn">Expired</Badge>
                      ) : invitation.has_link ? (
                        day(invitation.expires_at)
                      ) : (
                        <Badge tone="warn">No link yet</Badge>
                      )}
                    </Cell>
                    <Cell>
                      <span className="flex justify-end gap-1">
                        <NewLink invitation={invitation} mine={mine} onCreated={setCreated} />
                        <Withdrawal id={invitation.id} email={invitation.email} />
                      </span>
                    </Cell>
                  </Row>
                ))}
              </tbody>
            </Table>
          )
        }
      </Loaded>
    </Section>
  )
}

function NewLink({
  invitation: { email, role },
  mine,
  onCreated,
}: {
  invitation: OpenInvitation
  mine: Role
  onCreated: (created: CreatedInvitation) => void
}) {
  const refresh = useRefresh()
  const confirm = useConfirm()
  return (
    <Button
      size="sm"
      look="quiet"
      reason={role === 'owner' && mine !== 'owner' ? onlyFor('owner', mine) : undefined}
      aria-label={`New link for ${email}`}
      onClick={() =>
        confirm({
          title: `Make a new link for ${email}?`,
          words:
            'It works for 7 days. Every earlier link of this invitation stops working, including one in an e-mail.',
          action: 'Make a new link',
          deed: async () => {
            onCreated(await call(createInvitation, { body: { email, role } }))
            await refresh(listInvitations)
          },
        })
      }
    >
      New link
    </Button>
  )
}

function Withdrawal({ id, email }: { id: string; email: string }) {
  const refresh = useRefresh()
  const confirm = useConfirm()
  return (
    <Button
      size="sm"
      look="danger-quiet"
      aria-label={`Withdraw the invitation for ${email}`}
      onClick={() =>
        confirm({
          title: `Withdraw the invitation for ${email}?`,
          words: 'Its links stop working at once.',
          action: 'Withdraw',
          deed: async () => {
            await call(withdrawInvitation, { params: { id } })
            await refresh(listInvitations)
            notify(`The invitation for ${email} is withdrawn`)
          },
        })
      }
    >
      Withdraw
    </Button>
  )
}

const MAIL_WORDS = {
  sent: 'An e-mail with a link is on its way. Use the link below only if it does not arrive: the link in the e-mail also proves that the address is theirs.',
  logged: 'No mail server is set up: send the link yourself. It is also in the server’s log.',
  failed: 'The e-mail could not be sent: send the link yourself.',
} as const

export function InviteDialog({ open, onClose, mine }: { open: boolean; onClose: () => void; mine: Role }) {
  const [created, setCreated] = useState<CreatedInvitation>()
  const close = () => {
    onClose()
    setCreated(undefined)
  }
  if (created !== undefined) return <CreatedDialog created={created} onClose={close} />
  return (
    <Dialog open={open} onClose={close} title="Invite to the workspace">
      <InviteForm mine={mine} onClose={close} onCreated={setCreated} />
    </Dialog>
  )
}

type CreatedDialogProps = { created: CreatedInvitation; onClose: () => void }

/** Shows the link. No screen and no call shows it again. */
function CreatedDialog({ created: { email, role, mail, link }, onClose }: CreatedDialogProps) {
  return (
    <Dialog open onClose={onClose} firm title={`${email} is invited`}>
      <DialogBody>
        <Note kind={mail === 'sent' ? 'plain' : 'warning'}>{MAIL_WORDS[mail]}</Note>
        <TextField
          label="Link"
          readOnly
          value={link}
          onFocus={event => event.target.select()}
          className="[&_input]:font-mono"
        />
        <p className="text-ink-soft">
          Copy it now: it is not shown again. Anyone with this link can join as {role === 'member' ? 'a' : 'an'} {role}{' '}
          without proving that they are {email}, so send it in a way that reaches only them.
        </p>
      </DialogBody>
      <DialogFoot>
        <CopyButton text={link} label="Copy link" size="md" />
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </DialogFoot>
    </Dialog>
  )
}

type InviteFormProps = { mine: Role; onClose: () => void; onCreated: (created: CreatedInvitation) => void }

function InviteForm({ mine, onClose, onCreated }: InviteFormProps) {
  const refresh = useRefresh()
  const form = useDraft(InvitationDraft, { email: '', role: 'member' })
  const invite = useMutation({
    mutationFn: (body: z.input<typeof InvitationDraft>) => call(createInvitation, { body }),
    // The link is secret: it must not stay in the cache of mutations.
    gcTime: 0,
    onSuccess: async created => {
      onCreated(created)
      await refresh(listInvitations)
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
