/** The parameters of the click log's address. */
import { z } from 'zod'
import { EventType } from '../../../contract/event-types.ts'
import { TRACKED } from '../../../reading/feed/api.ts'
import { WindowSearch } from '../../ground/figures/search.ts'
import { SoughtSearch, typed } from '../../ground/lists.ts'
import { CLICK_STATUSES } from '../../ground/rungs.ts'

const text = z.string().optional().catch(undefined)

/** Stands for clicks whose country is not known. */
export const UNKNOWN_COUNTRY = 'none'

export const ClicksSearch = WindowSearch.extend({
  ...SoughtSearch.shape,
  q: typed,
  type: EventType.optional().catch(undefined),
  campaign: text,
  status: z.enum(CLICK_STATUSES).optional().catch(undefined),
  tracked: z.enum(TRACKED).optional().catch(undefined),
  country: z
    .literal(UNKNOWN_COUNTRY)
    .or(z.string().regex(/^[A-Z]{2}$/))
    .optional()
    .catch(undefined),
  sub1: typed,
  cursor: text,
})
export type ClicksSearch = z.output<typeof ClicksSearch>
