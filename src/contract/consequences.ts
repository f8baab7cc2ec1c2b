/** Replies to deletions and archivings. They name the campaigns whose traffic the change affects. */
import { z } from 'zod'
import { Id } from './fields.ts'

/** The campaigns that now send visitors to their fallback, or nowhere, because of the change. */
export const OnFallback = z
  .array(
    z.object({
      id: Id,
      name: z.string(),
      has_fallback: z.boolean().meta({ description: 'False: its visitors now have nowhere to go' }),
    }),
  )
  .meta({
    description:
      'Campaigns that now send all or some visitors to their fallback, or nowhere if they have none. A key restricted to campaigns sees those on its list',
  })
export type OnFallback = z.output<typeof OnFallback>

/** The reply of a deletion. */
export const Deleted = z.object({ ok: z.literal(true), id: Id }).meta({ id: 'Deleted' })

/** The reply of a deletion that can affect campaigns. */
export const DeletedFromTraffic = Deleted.extend({ campaigns_on_fallback: OnFallback }).meta({
  id: 'DeletedFromTraffic',
})
