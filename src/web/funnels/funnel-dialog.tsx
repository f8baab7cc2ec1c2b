/** A funnel, new or changed: its name, its landings and its offers with their weights. */
import { useQuery } from '@tanstack/react-query'
import type { z } from 'zod'
import { createFunnel, type Funnel, FunnelDraft, listFunnels, updateFunnel } from '../../funnels/api.ts'
import { listLandings } from '../../landings/api.ts'
import { listOffers } from '../../offers/api.ts'
import { ask, call } from '../call.ts'
import { Dialog } from '../ui/dialog.tsx'
import { DraftForm } from '../ui/draft-form.tsx'
import { useDraft } from '../ui/draft.ts'
import { TextField } from '../ui/field.tsx'
import { notify } from '../ui/toast.tsx'
import { type Choosable, type Member, MembersField } from './members-field.tsx'

type FunnelRow = z.input<typeof Funnel>
type Draft = z.input<typeof FunnelDraft>

type FunnelDialogProps = { funnel: FunnelRow | undefined; open: boolean; onClose: () => void }

export function FunnelDialog({ funnel, open, onClose }: FunnelDialogProps) {
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={funnel === undefined ? 'New funnel' : `Edit ${funnel.name}`}
      width="wide"
    >
      <FunnelForm funnel={funnel} onClose={onClose} />
    </Dialog>
  )
}

const MOST = 200

/** The newest of a kind, and those that the funnel has already. */
function choosable(known: readonly Choosable[] | undefined, own: readonly Choosable[]): Choosable[] {
  const newest = known ?? []
  return [...newest, ...own.filter(({ id }) => newest.every(one => one.id !== id))]
}

function FunnelForm({ funnel, onClose }: { funnel: FunnelRow | undefined; onClose: () => void }) {
  const landings = useQuery(ask(listLandings, { query: { limit: MOST } })).data?.data
  const offers = useQuery(ask(listOffers, { query: { limit: MOST } })).data?.data
  const form = useDraft<Draft>(FunnelDraft, {
    name: funnel?.name ?? '',
    landings: funnel?.landings.map(({ landing_id, weight }) => ({ landing_id, weight })) ?? [],
    offers: funnel?.offers.map(({ offer_id, weight }) => ({ offer_id, weight })) ?? [],
  })
  const { errors, isSubmitted } = form.formState
  const changed = { shouldDirty: true, shouldValidate: isSubmitted }
  return (
    <DraftForm
      form={form}
      className="gap-6!"
      action={funnel === undefined ? 'Create funnel' : 'Save funnel'}
      endpoint={funnel === undefined ? createFunnel : updateFunnel}
      deed={body =>
        funnel === undefined ? call(createFunnel, { body }) : call(updateFunnel, { params: { id: funnel.id }, body })
      }
      refresh={[listFunnels]}
      onClose={onClose}
      onSaved={({ name }) =>
        notify(`${name} is ${funnel === undefined ? 'ready' : 'saved'}`, 'It holds for the next click.')
      }
    >
      <TextField label="Name" autoComplete="off" error={errors.name?.message} {...form.register('name')} />
      <MembersField
        legend="Landings"
        one="landing"
        words="What a visitor sees first. None: straight to an offer."
        members={(form.watch('landings') ?? []).map(({ landing_id, weight }) => ({ id: landing_id, weight }))}
        known={choosable(
          landings,
          (funnel?.landings ?? []).map(member => ({ ...member, id: member.landing_id })),
        )}
        faultOf={at => errors.landings?.[at]?.weight?.message}
        onChange={(members: Member[]) =>
          form.setValue(
            'landings',
            members.map(({ id, weight }) => ({ landing_id: id, weight })),
            changed,
          )
        }
      />
      <MembersField
        legend="Offers"
        one="offer"
        words="Where a visitor goes on to. Chosen at the click, and kept."
        members={(form.watch('offers') ?? []).map(({ offer_id, weight }) => ({ id: offer_id, weight }))}
        known={choosable(
          offers,
          (funnel?.offers ?? []).map(member => ({ ...member, id: member.offer_id })),
        )}
        faultOf={at => errors.offers?.[at]?.weight?.message}
        onChange={(members: Member[]) =>
          form.setValue(
            'offers',
            members.map(({ id, weight }) => ({ offer_id: id, weight })),
            changed,
          )
        }
      />
    </DraftForm>
  )
}
