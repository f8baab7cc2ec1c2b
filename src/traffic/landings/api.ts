/** Landings over HTTP: the pages visitors see before an offer, and how they go on from there. */
import { z } from 'zod'
import { Address, Preview, UnknownMacros } from '../../contract/address.ts'
import { DeletedFromTraffic, OnFallback } from '../../contract/consequences.ts'
import { endpoint, REPEATABLE } from '../../contract/endpoint.ts'
import { Id, Instant, Name, Page } from '../../contract/fields.ts'
import { pickedFile } from '../../contract/list-files.ts'
import { LABELS, noteEndpoint, TagFilter, tagsEndpoint } from '../../contract/labels.ts'
import { paging, Search } from '../../contract/paging.ts'
import { Warnings } from '../../contract/warnings.ts'

export const LANDING_STATUSES = ['active', 'archived'] as const
export const LandingStatus = z.enum(LANDING_STATUSES)
export type LandingStatus = z.infer<typeof LandingStatus>

export const Landing = z
  .object({
    id: Id,
    name: z.string(),
    url: z.string(),
    unknown_macros: UnknownMacros,
    status: LandingStatus,
    created_at: Instant,
    ...LABELS,
    updated_at: Instant,
  })
  .meta({ id: 'Landing' })
export type Landing = z.output<typeof Landing>

const WrittenLanding = Landing.extend({ warnings: Warnings }).meta({ id: 'WrittenLanding' })

export const LandingDraft = z.object({ name: Name(), url: Address })
export type LandingDraft = z.output<typeof LandingDraft>

const filters = {
  tag_id: TagFilter,
  q: Search.meta({ description: 'Part of the name' }),
  status: LandingStatus.optional(),
}

export const listLandings = endpoint({
  route: 'GET /api/landings',
  access: { session: 'member' },
  summary: 'List landings, newest first',
  query: z.object({ ...paging, ...filters }),
  reply: Page(Landing),
})

export const exportLandings = endpoint({
  ...pickedFile(filters),
  route: 'POST /api/landings/csv',
  summary: 'Save landings as a CSV file',
})

export const readLanding = endpoint({
  route: 'GET /api/landings/:id',
  access: { session: 'member' },
  summary: 'Read a landing',
  reply: Landing,
  refuses: ['object_not_found'],
})

export const createLanding = endpoint({
  route: 'POST /api/landings',
  access: { session: 'admin', key: 'landings' },
  history: 'landing',
  summary: 'Create a landing',
  body: LandingDraft,
  reply: WrittenLanding,
  status: 201,
  ...REPEATABLE,
})

export const previewLanding = endpoint({
  route: 'POST /api/landings/preview',
  access: { session: 'member' },
  reads: true,
  summary: "Fill in an address's macros by example",
  body: z.object({ url: Address }),
  reply: Preview,
  refuses: ['invalid_request'],
})

export const replaceLanding = endpoint({
  route: 'PUT /api/landings/:id',
  access: { session: 'admin', key: 'landings:update' },
  history: 'landing',
  summary: 'Replace a landing whole',
  description:
    'Fields that are not sent are cleared. The status is not part of it. What is equal already is left as it is.',
  body: LandingDraft,
  reply: WrittenLanding,
  receipt: ['unknown_macros', 'status'],
  refuses: ['object_not_found'],
})

export const setLandingStatus = endpoint({
  route: 'PUT /api/landings/:id/status',
  access: { session: 'admin', key: 'landings:status' },
  history: 'landing',
  summary: 'Archive or unarchive a landing',
  description: 'An archived landing gets no new visitors: funnels send them to the others, or straight to an offer.',
  body: z.object({ status: LandingStatus }),
  reply: Landing.extend({ campaigns_on_fallback: OnFallback }),
  receipt: ['status'],
  refuses: ['object_not_found'],
})

export const deleteLanding = endpoint({
  route: 'DELETE /api/landings/:id',
  access: { session: 'admin', key: 'landings:delete' },
  history: 'landing',
  summary: 'Delete a landing',
  description: 'Funnels go on without it. Whoever is on the page already still comes to the offer.',
  reply: DeletedFromTraffic,
  refuses: ['object_not_found'],
})

export const setLandingTags = tagsEndpoint('PUT /api/landings/:id/tags', 'landing', 'a landing')
export const setLandingNote = noteEndpoint('PUT /api/landings/:id/note', 'landing', 'a landing')
