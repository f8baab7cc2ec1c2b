/** What the click log's address holds. */
import { z } from 'zod'
import { TRACKED } from '../../feed/api.ts'
import { WindowSearch } from '../reports/search.ts'
import { LADDER } from './rungs.ts'

const text = z.string().optional().catch(undefined)

export const ClicksSearch = WindowSearch.extend({
  campaign: text,
  status: z.enum(LADDER).optional().catch(undefined),
  tracked: z.enum(TRACKED).optional().catch(undefined),
  cursor: text,
})
export type ClicksSearch = z.output<typeof ClicksSearch>
