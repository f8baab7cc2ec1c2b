/** The public address of a campaign: where visitors of ads arrive, and the one its owners try it out by. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { FAITHFUL, Instant } from '../../contract/fields.ts'

export const visitCampaign = endpoint({
  route: 'GET /c/:key',
  access: 'anyone',
  visit: true,
  hosts: 'any',
  summary: "Record a click and redirect to the campaign's destination",
  answers: {
    302: {
      words: 'The visitor goes on. The cookie vis_id is set where there was none',
      headers: ['Location', 'Set-Cookie'],
    },
    200: {
      words:
        'A page that opens Telegram, where the destination says so; or the campaign is paused or archived and has no fallback, and a page says that',
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
    'Counted clicks that came with a field of the source still a macro, or with a click id too long to be saved; the latest value beside it.',
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

const WIRE_URL_LENGTH = 8192

export const ReadField = z.object({
  field: z.string(),
  parameter: z.string().meta({ description: 'The name it came under, else the one it is expected under' }),
  sent: z.string().nullable().meta({ description: 'What came, decoded' }),
  value: z.string().nullable().meta({ description: 'What a click keeps of it' }),
  state: z.enum(['read', 'not_sent', 'empty', 'unreplaced', 'too_long', 'unusable', 'unreadable', 'unused']).meta({
    description:
      'unreplaced: still the macro; unusable: no click id of an ad platform; unreadable: no amount that the cost model takes; unused: no cost is taken from the link',
  }),
})

export const tryLink = endpoint({
  route: 'POST /api/campaigns/:id/try-link',
  access: { session: 'member' },
  summary: "Say what a click would keep of an address, by the campaign's names and its traffic source",
  description:
    'Without an address, that of the campaign with sample values in the place of the macros. Nobody is sent anywhere, and nothing is recorded.',
  body: z.object({
    url: z
      .string()
      .trim()
      .min(1)
      .max(WIRE_URL_LENGTH)
      .refine(...FAITHFUL)
      .nullish()
      .meta({ description: 'As a visitor opens it; everything behind the first ? is read' }),
  }),
  reply: z.object({
    url: z.string(),
    fields: z.array(ReadField),
    unknown: z
      .array(z.object({ parameter: z.string(), sent: z.string() }))
      .meta({ description: 'What else is in the address, of which nothing is kept' }),
    cost: z
      .object({ usd: z.string().nullable(), original: z.string().nullable(), currency: z.string().nullable() })
      .nullable()
      .meta({ description: 'What the click would cost; null where the campaign has no cost model' }),
  }),
  refuses: ['object_not_found', 'invalid_request'],
})
