/** Clicks over HTTP: the campaign link that visitors open, its test link, and checks of what a click stores. */
import { z } from 'zod'
import { AD_IDS } from '../../contract/ad-platforms.ts'
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
      words: 'Redirects the visitor. Sets the cookie vis_id if there was none',
      headers: ['Location', 'Set-Cookie'],
    },
    200: {
      words:
        'A page that opens Telegram, if that is the destination; or a page that says the offer is closed, if the campaign is paused or archived and has no fallback',
      type: 'text/html',
      headers: ['Set-Cookie'],
    },
    404: { words: 'No campaign has this key, or it has no destination', type: 'text/plain' },
  },
  description: `Reads ref_id, sub1 to sub9, ${AD_IDS.join(', ')} from the query. HEAD redirects with an empty click id and records nothing.`,
})

export const readTestLink = endpoint({
  route: 'GET /api/campaigns/:id/test-link',
  access: { session: 'member' },
  summary: 'Read the test link of a campaign',
  description:
    'Leads where the campaign leads. Its clicks are test clicks: listed with tracked=false, and never counted, ' +
    'billed or delivered, nor are their conversions. Only a path if BASE_URL is not set and the request did not come to an address of this machine.',
  reply: z.object({ url: z.string() }),
  refuses: ['object_not_found'],
})

export const readClicksWhilePaused = endpoint({
  route: 'GET /api/campaigns/:id/clicks-while-paused',
  access: { session: 'member' },
  summary: 'How many visitors came while a campaign was paused or archived',
  description:
    'Counts the clicks that are still stored, without bots and tests. They have tracked=false, and no report counts one until it converts.',
  reply: z.object({ clicks: z.int(), last_at: Instant.nullable() }),
  refuses: ['object_not_found'],
})

export const readSourceFaults = endpoint({
  route: 'GET /api/campaigns/:id/source-faults',
  access: { session: 'member' },
  summary: 'List macros that a campaign’s traffic source did not replace in the last seven days',
  description:
    'Counts clicks on which a field of the source was an unreplaced macro, or a click id was too long to store. Each has its latest value.',
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
  parameter: z.string().meta({ description: 'The parameter that was sent, else the expected one' }),
  sent: z.string().nullable().meta({ description: 'The value as sent, decoded' }),
  value: z.string().nullable().meta({ description: 'The value a click stores' }),
  state: z.enum(['read', 'not_sent', 'empty', 'unreplaced', 'too_long', 'unusable', 'unreadable', 'unused']).meta({
    description:
      'unreplaced: still a macro; unusable: not a click id of the ad platform; unreadable: not an amount; unused: the cost model does not read the link',
  }),
})

export const tryLink = endpoint({
  route: 'POST /api/campaigns/:id/try-link',
  access: { session: 'member' },
  reads: true,
  summary: 'Test which values a click would store from a campaign link',
  description:
    'Reads the link by the parameters of the campaign and its traffic source. Without a url it reads the campaign link with sample values for the macros. Nothing is recorded.',
  body: z.object({
    url: z
      .string()
      .trim()
      .min(1)
      .max(WIRE_URL_LENGTH)
      .refine(...FAITHFUL)
      .nullish()
      .meta({ description: 'The URL a visitor opens; everything after the first ? is read' }),
  }),
  reply: z.object({
    url: z.string(),
    fields: z.array(ReadField),
    unknown: z
      .array(z.object({ parameter: z.string(), sent: z.string() }))
      .meta({ description: 'Other parameters of the link, which are not stored' }),
    cost: z
      .object({ usd: z.string().nullable(), original: z.string().nullable(), currency: z.string().nullable() })
      .nullable()
      .meta({ description: 'What the click would cost; null: the campaign has no cost model' }),
  }),
  refuses: ['object_not_found', 'invalid_request'],
})
