/** What the answer to a deletion or an archiving tells, beside that it was done: which traffic has lost its way by it. */
import { z } from 'zod'
import { Id } from './fields.ts'

/** The campaigns that send visitors to their fallback, or nowhere, because of what was done. */
export const OnFallback = z.array(z.object({ id: Id, name: z.string() })).meta({
  description:
    'Campaigns that send their visitors, or some of them, to their fallback because of this; without a fallback, nowhere. Of a key restricted to campaigns, those on its list',
})
export type OnFallback = z.output<typeof OnFallback>

/** The reply of a deletion. */
export const Deleted = z.object({ ok: z.literal(true), id: Id }).meta({ id: 'Deleted' })

/** The reply of a deletion that can take campaigns off their way. */
export const DeletedFromTraffic = Deleted.extend({ campaigns_on_fallback: OnFallback }).meta({
  id: 'DeletedFromTraffic',
})
