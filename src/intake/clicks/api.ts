/** The public address of a campaign: where visitors of ads arrive, and the one its owners try it out by. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Instant } from '../../contract/fields.ts'

export const visitCampaign = endpoint({
  route: 'GET /c/:key',
  access: 'anyone',
  visit: true,
  summary: "Record a click and redirect to the campaign's destination",
  answers: {
    302: {
      words: 'The visitor goes on. The cookie sluice_v is set where there was none',
      headers: ['Location', 'Set-Cookie'],
    },
    200: {
      words: 'The campaign is paused or archived and has no fallback: a page that says so',
      type: 'text/html',
      headers: ['Set-Cookie'],
    },
    404: { words: 'No campaign has this key, or there is nowhere to go', type: 'text/plain' },
  },
  description:
    'Reads ref_id, sub1 to sub9, fbclid, gclid, gbraid, wbraid and ttclid from the query. HEAD redirects with an empty click id and records nothing.',
})

export const readTestLink = endpoint({
  route: 'GET /api/campaigns/:id/test-link',
  access: { session: 'member' },
  summary: 'The address to try a campaign out by',
  description:
    'Leads where the campaign leads. Its clicks are test clicks: listed with tracked=false, and with all that comes of them never counted, ' +
    'billed or delivered. A path alone while BASE_URL is not set and the caller came by no address of this machine.',
  reply: z.object({ url: z.string() }),
  refuses: ['object_not_found'],
})

export const readClicksWhilePaused = endpoint({
  route: 'GET /api/campaigns/:id/clicks-while-paused',
  access: { session: 'member' },
  summary: 'How many visitors came while a campaign was paused or archived',
  description:
    'Counted as long as clicks are kept, without bots and tests. They are stored with tracked=false and counted in no report, until a conversion proves one.',
  reply: z.object({ clicks: z.int(), last_at: Instant.nullable() }),
  refuses: ['object_not_found'],
})

export const readSourceFaults = endpoint({
  route: 'GET /api/campaigns/:id/source-faults',
  access: { session: 'member' },
  summary: 'What the traffic source of a campaign did not fill in, in the last seven days',
  description:
    'Counted clicks that came with a field of the source still a macro, or with a click id too long to be kept; the latest value beside it.',
  reply: z.object({
    data: z.array(
      z.object({
        field: z.string(),
        fault: z.enum(['unreplaced', 'too_long']),
        parameter: z.string(),
        value: z.string(),
        clicks: z.int(),
      }),
    ),
  }),
})
