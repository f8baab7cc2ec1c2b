/** Open hours over HTTP: when an offer or a campaign takes visitors. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { TimeZone } from '../../contract/time-zones.ts'

export const OpenHours = z
  .object({
    timezone: TimeZone,
    week: z
      .array(z.string().regex(/^[01]{48}$/, { message: 'must be 48 half hours, each 0 or 1' }))
      .length(7, { message: 'must be seven days' })
      .refine(days => days.some(day => day.includes('1')), { message: 'is never open: pause it instead' })
      .meta({ description: 'Seven days from Monday, each 48 half hours from midnight: 1 is open' }),
  })
  .meta({ id: 'OpenHours' })

const Hours = z
  .object({
    open_hours: OpenHours.nullable().meta({ description: 'null: always open' }),
    is_open: z.boolean().meta({ description: 'Whether it is open by these hours now' }),
  })
  .meta({ id: 'Hours' })
const Draft = z.object({ open_hours: OpenHours.nullable().meta({ description: 'null: always open' }) })

const ON_OFFERS =
  'Outside of them visitors go where those of an archived offer do: campaigns send them to their fallback, funnels to their other offers.'
const ON_CAMPAIGNS = 'Outside of them its visitors go where those of a paused campaign do, stored with tracked=false.'

export const readOfferHours = endpoint({
  route: 'GET /api/offers/:id/open-hours',
  access: { session: 'member' },
  summary: 'Read when an offer takes visitors',
  reply: Hours,
  refuses: ['object_not_found'],
})

export const setOfferHours = endpoint({
  route: 'PUT /api/offers/:id/open-hours',
  access: { session: 'admin' },
  summary: 'Say when an offer takes visitors',
  description: ON_OFFERS,
  body: Draft,
  reply: Hours,
  refuses: ['object_not_found'],
})

export const readCampaignHours = endpoint({
  route: 'GET /api/campaigns/:id/open-hours',
  access: { session: 'member' },
  summary: 'Read when a campaign takes visitors',
  reply: Hours,
  refuses: ['object_not_found'],
})

export const setCampaignHours = endpoint({
  route: 'PUT /api/campaigns/:id/open-hours',
  access: { session: 'admin' },
  summary: 'Say when a campaign takes visitors',
  description: ON_CAMPAIGNS,
  body: Draft,
  reply: Hours,
  refuses: ['object_not_found'],
})
