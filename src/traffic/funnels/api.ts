/** The endpoints of funnels: landings and offers that share a campaign's visitors by weight. */
import { z } from 'zod'
import { DeletedFromTraffic } from '../../contract/consequences.ts'
import { endpoint, REPEATABLE } from '../../contract/endpoint.ts'
import { Id, Instant, Name, Page } from '../../contract/fields.ts'
import { pickedFile } from '../../contract/list-files.ts'
import { LABELS, noteEndpoint, TagFilter, tagsEndpoint } from '../../contract/labels.ts'
import { paging, Search } from '../../contract/paging.ts'
import { Warnings } from '../../contract/warnings.ts'

/** Large enough for percents with two decimals, written as whole numbers. */
const MOST_MEMBER_WEIGHT = 10_000
/** Limited because every visit computes a hash per member. */
const MOST_MEMBERS = 50

const error = `must be a whole number from 1 to ${MOST_MEMBER_WEIGHT.toLocaleString('en-US')}`
const Weight = z
  .int({ error })
  .min(1, { error })
  .max(MOST_MEMBER_WEIGHT, { error })
  .meta({ description: `The member's share of visitors, relative to the other weights: 1 to ${MOST_MEMBER_WEIGHT}` })

const MemberState = {
  name: z.string(),
  status: z.enum(['active', 'archived', 'deleted']).meta({ description: 'Only active members get visitors' }),
}

const LandingShare = z.object({ landing_id: Id, weight: Weight })
const OfferShare = z.object({ offer_id: Id, weight: Weight })

export const Funnel = z
  .object({
    id: Id,
    name: z.string(),
    landings: z.array(LandingShare.extend(MemberState)),
    offers: z.array(OfferShare.extend(MemberState)),
    created_at: Instant,
    ...LABELS,
    updated_at: Instant,
  })
  .meta({ id: 'Funnel' })
export type Funnel = z.output<typeof Funnel>

const WrittenFunnel = Funnel.extend({ warnings: Warnings }).meta({ id: 'WrittenFunnel' })

const isOnce = (ids: readonly string[]): boolean => new Set(ids).size === ids.length
const twice = { message: 'names one twice; give it a larger weight instead' }

const LandingShares = z
  .array(LandingShare.strict())
  .max(MOST_MEMBERS)
  .refine(members => isOnce(members.map(({ landing_id }) => landing_id)), twice)
  .meta({ description: 'The first pages of visitors; empty: visitors go straight to an offer' })

const OfferShares = z
  .array(OfferShare.strict())
  .max(MOST_MEMBERS)
  .refine(members => isOnce(members.map(({ offer_id }) => offer_id)), twice)
  .meta({ description: 'Where visitors go after the landing; empty: only landings' })

export const FunnelDraft = z.object({ name: Name(), landings: LandingShares.nullish(), offers: OfferShares.nullish() })
const FunnelChanges = FunnelDraft.partial()

const filters = {
  tag_id: TagFilter,
  q: Search.meta({ description: 'Part of the name' }),
}

export const listFunnels = endpoint({
  route: 'GET /api/funnels',
  access: { session: 'member' },
  summary: 'List funnels, newest first',
  query: z.object({ ...paging, ...filters }),
  reply: Page(Funnel),
})

export const exportFunnels = endpoint({
  ...pickedFile(filters),
  route: 'POST /api/funnels/csv',
  summary: 'Save funnels as a CSV file',
})

export const readFunnel = endpoint({
  route: 'GET /api/funnels/:id',
  access: { session: 'member' },
  summary: 'Read a funnel',
  reply: Funnel,
  refuses: ['object_not_found'],
})

export const createFunnel = endpoint({
  route: 'POST /api/funnels',
  access: { session: 'admin', key: 'funnels' },
  history: 'funnel',
  summary: 'Create a funnel',
  description:
    'Needs at least one landing or offer. A visitor gets one landing and then one offer, and the same ones on later visits. Unknown fields of a member are refused.',
  body: FunnelDraft,
  reply: WrittenFunnel,
  status: 201,
  ...REPEATABLE,
  refuses: ['invalid_request'],
})

export const updateFunnel = endpoint({
  route: 'PATCH /api/funnels/:id',
  access: { session: 'admin', key: 'funnels:update' },
  history: 'funnel',
  summary: 'Change a funnel',
  description:
    'Fields that are not sent do not change; landings and offers are replaced as lists. The change applies from the next click and moves as few visitors as possible. Equal values change nothing.',
  body: FunnelChanges,
  reply: WrittenFunnel,
  receipt: [],
  refuses: ['object_not_found', 'invalid_request'],
})

export const deleteFunnel = endpoint({
  route: 'DELETE /api/funnels/:id',
  access: { session: 'admin', key: 'funnels:delete' },
  history: 'funnel',
  summary: 'Delete a funnel',
  description:
    'Campaigns that lead to it send their visitors to the fallback. A key restricted to campaigns needs all of them on its list.',
  reply: DeletedFromTraffic,
  refuses: ['object_not_found', 'campaign_scope_forbidden'],
})

export const setFunnelTags = tagsEndpoint('PUT /api/funnels/:id/tags', 'funnel', 'a funnel')
export const setFunnelNote = noteEndpoint('PUT /api/funnels/:id/note', 'funnel', 'a funnel')
