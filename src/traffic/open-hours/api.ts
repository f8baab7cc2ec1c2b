/** The endpoints of open hours: when an offer or a campaign takes visitors. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { TimeZone } from '../../contract/time-zones.ts'

export const OpenHours = z
  .object({
    timezone: TimeZone,
    week: z
      .array(z.string().regex(/^[01]{48}$/, { message: 'must be 48 half hours, each 0 or 1' }))
      .length(7, { message: 'must be seven days' })
      .refine(days => days.some(day => day.includes('1')), { message: 'must have an open half hour; pause it instead' })
      .meta({ description: 'Seven days from Monday, each 48 half hours from midnight: 1 is open' }),
  })
  .meta({ id: 'OpenHours' })

const Hours = z
  .object({
    open_hours: OpenHours.nullable().meta({ description: 'null: always open' }),
    is_open: z.boolean().meta({ description: 'Whether these hours are open now' }),
  })
  .meta({ id: 'Hours' })
const Draft = z.object({ open_hours: OpenHours.nullable().meta({ description: 'null: always open' }) })

const ON_OFFERS =
  'Outside these hours it acts like an archived offer: campaigns send visitors to their fallback, funnels to their other offers.'
const ON_CAMPAIGNS =
  'Outside these hours it acts like a paused campaign: visitors go to the fallback, and clicks are stored with tracked=false.'

export const readOfferHours = endpoint({
  route: 'GET /api/offers/:id/open-hours',
  access: { session: 'member' },
  summary: 'Read the open hours of an offer',
  reply: Hours,
  refuses: ['object_not_found'],
})

export const setOfferHours = endpoint({
  route: 'PUT /api/offers/:id/open-hours',
  access: { session: 'admin' },
  history: 'offer',
  summary: 'Set the open hours of an offer',
  description: ON_OFFERS,
  body: Draft,
  reply: Hours,
  refuses: ['object_not_found'],
})

export const readCampaignHours = endpoint({
  route: 'GET /api/campaigns/:id/open-hours',
  access: { session: 'member' },
  summary: 'Read the open hours of a campaign',
  reply: Hours,
  refuses: ['object_not_found'],
})

export const setCampaignHours = endpoint({
  route: 'PUT /api/campaigns/:id/open-hours',
  access: { session: 'admin' },
  history: 'campaign',
  summary: 'Set the open hours of a campaign',
  description: ON_CAMPAIGNS,
  body: Draft,
  reply: Hours,
  refuses: ['object_not_found'],
})
