/** The dialog that creates or edits a funnel: its name, and its landings and offers with weights. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { z } from 'zod'
import {
  createFunnel,
  type Funnel,
  FunnelDraft,
  listFunnels,
  readFunnel,
  setFunnelNote,
  setFunnelTags,
  updateFunnel,
} from '../../../traffic/funnels/api.ts'
import { listLandings } from '../../../traffic/landings/api.ts'
import { listOffers } from '../../../traffic/offers/api.ts'
import { LabelFields } from '../../ground/many/label-fields.tsx'
import { ask, call } from '../../ground/call.ts'
import { nameOfCopy } from '../../../contract/copies.ts'
import { NewDialog } from '../../ground/ui/clone.tsx'
import { Dialog } from '../../ground/ui/dialog.tsx'
import { chosenIn, useDraft } from '../../ground/ui/draft.ts'
import { DraftForm } from '../../ground/ui/draft-form.tsx'
import { TextField } from '../../ground/ui/field.tsx'
import { Note } from '../../ground/ui/refusal.tsx'
import { notify } from '../../ground/ui/toast.tsx'
import { type Choosable, type FunnelMember, MembersField, withWanted } from './members-field.tsx'

type FunnelRow = z.input<typeof Funnel>
type Draft = z.input<typeof FunnelDraft>

type FunnelDialogProps = {
  funnel: FunnelRow | undefined
  /** The id of the funnel to copy. */
  clone?: string | undefined
  open: boolean
  onClose: () => void
}

export function FunnelDialog({ funnel, clone, open, onClose }: FunnelDialogProps) {
  if (funnel === undefined)
    return (
      <NewDialog
        what="funnel"
        width="wide"
        clone={clone}
        read={id => call(readFunnel, { params: { id } })}
        nameOf={({ name }) => name}
        open={open}
        onClose={onClose}
      >
        {original => <FunnelForm funnel={undefined} original={original} onClose={onClose} />}
      </NewDialog>
    )
  return (
    <Dialog open={open} onClose={onClose} title={`Edit ${funnel.name}`} width="wide">
      <FunnelForm funnel={funnel} onClose={onClose} />
    </Dialog>
  )
}

const PAGE_SIZE = 200

/** The newest landings or offers, and the members that the funnel has already. */
function choosable(known: readonly Choosable[] | undefined, own: readonly Choosable[]): Choosable[] {
  const newest = known ?? []
  return [...newest, ...own.filter(({ id }) => newest.every(one => one.id !== id))]
}

type Members = Pick<Draft, 'landings' | 'offers'>

const landingsOf = (draft: Members): FunnelMember[] =>
  (draft.landings ?? []).map(({ landing_id, weight }) => ({ id: landing_id, weight }))
const offersOf = (draft: Members): FunnelMember[] =>
  (draft.offers ?? []).map(({ offer_id, weight }) => ({ id: offer_id, weight }))
const asLandings = (members: FunnelMember[]) => members.map(({ id, weight }) => ({ landing_id: id, weight }))
const asOffers = (members: FunnelMember[]) => members.map(({ id, weight }) => ({ offer_id: id, weight }))

function draftOf(funnel: FunnelRow | undefined): Draft {
  if (funnel === undefined) return { name: '', landings: [], offers: [] }
  const { name, landings, offers } = funnel
  return {
    name,
    landings: landings.map(({ landing_id, weight }) => ({ landing_id, weight })),
    offers: offers.map(({ offer_id, weight }) => ({ offer_id, weight })),
  }
}

const isOpen = ({ status }: { status: string }) => status === 'active'

/** A copy leaves out archived and deleted members, which get no visitors. */
const copyOf = (funnel: FunnelRow): FunnelRow => ({
  ...funnel,
  name: nameOfCopy(funnel.name),
  landings: funnel.landings.filter(isOpen),
  offers: funnel.offers.filter(isOpen),
})

function LeftOut({ of: { landings, offers } }: { of: FunnelRow }) {
  const left = [...landings, ...offers].filter(member => !isOpen(member))
  if (left.length === 0) return null
  return <Note>Not copied: {left.map(({ name, status }) => `${name} (${status})`).join(', ')}.</Note>
}

/** The draft with the landing and offer that are chosen but not yet added. */
const withChosen = (draft: Draft, landing: string, offer: string): Draft => ({
  ...draft,
  landings: asLandings(withWanted(landingsOf(draft), landing)),
  offers: asOffers(withWanted(offersOf(draft), offer)),
})

const save = (funnel: FunnelRow | undefined, body: Draft) =>
  funnel === undefined ? call(createFunnel, { body }) : call(updateFunnel, { params: { id: funnel.id }, body })

type FormProps = { funnel: FunnelRow | undefined; original?: FunnelRow | undefined; onClose: () => void }

function FunnelForm({ funnel, original, onClose }: FormProps) {
  const landings = useQuery(ask(listLandings, { query: { limit: PAGE_SIZE } })).data?.data
  const offers = useQuery(ask(listOffers, { query: { limit: PAGE_SIZE } })).data?.data
  const form = useDraft<Draft>(FunnelDraft, draftOf(funnel ?? (original && copyOf(original))))
  const [landing, setLanding] = useState('')
  const [offer, setOffer] = useState('')
  const { errors } = form.formState
  return (
    <DraftForm
      form={form}
      className="gap-6!"
      action={funnel === undefined ? 'Create funnel' : 'Save funnel'}
      endpoint={funnel === undefined ? createFunnel : updateFunnel}
      deed={typed => save(funnel, withChosen(typed, landing, offer))}
      refresh={[listFunnels]}
      onClose={onClose}
      onSaved={({ name }) =>
        notify(`${name} is ${funnel === undefined ? 'ready' : 'saved'}`, 'Applies from the next click.')
      }
    >
      <TextField label="Name" autoComplete="off" error={errors.name?.message} {...form.register('name')} />
      {original !== undefined && <LeftOut of={original} />}
      <MembersField
        legend="Landings"
        one="landing"
        words="The page a visitor sees first. Without landings, visitors go straight to an offer."
        members={landingsOf({ landings: form.watch('landings') })}
        known={choosable(
          landings,
          ((funnel ?? original)?.landings ?? []).map(member => ({ ...member, id: member.landing_id })),
        )}
        faultOf={at => errors.landings?.[at]?.weight?.message}
        wanted={landing}
        onWant={setLanding}
        onChange={members => form.setValue('landings', asLandings(members), chosenIn(form))}
      />
      <MembersField
        legend="Offers"
        one="offer"
        words="Where a visitor goes next. Chosen at the click, and kept for the visitor."
        members={offersOf({ offers: form.watch('offers') })}
        known={choosable(
          offers,
          ((funnel ?? original)?.offers ?? []).map(member => ({ ...member, id: member.offer_id })),
        )}
        faultOf={at => errors.offers?.[at]?.weight?.message}
        wanted={offer}
        onWant={setOffer}
        onChange={members => form.setValue('offers', asOffers(members), chosenIn(form))}
      />
      {funnel !== undefined && (
        <section aria-label="Tags and note" className="border-t border-line pt-3">
          <LabelFields of={funnel} setTags={setFunnelTags} setNote={setFunnelNote} shownIn={[listFunnels]} />
        </section>
      )}
    </DraftForm>
  )
}
