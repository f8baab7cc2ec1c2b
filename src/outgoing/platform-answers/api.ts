/** What ad platforms say at once, over HTTP: to a test event, and of a conversion they have accepted. A dashboard session only. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Id } from '../../contract/fields.ts'

export const testAdAccount = endpoint({
  route: 'POST /api/ad-accounts/:id/test',
  access: { session: 'admin' },
  summary: 'Send a test event and show what the platform answers',
  description:
    'Meta and TikTok need the test code their Events Manager shows; Google only checks the event. Nothing is recorded here, and the account’s state stays.',
  body: z.object({
    event_type: EventType,
    click_id: Id.nullish().meta({ description: 'A click whose values are sent; a made-up visit otherwise' }),
    test_event_code: z
      .string()
      .trim()
      .regex(/^[A-Za-z0-9_-]{1,50}$/, { message: 'must be a test code such as TEST12345' })
      .nullish(),
  }),
  reply: z.object({
    accepted: z.boolean(),
    reason: z.string().nullable().meta({ description: 'Why it was not accepted, or not sent' }),
    status: z.number().int().nullable().meta({ description: 'HTTP status of the answer' }),
    sent: z.string().nullable().meta({ description: 'The body that was sent, without the credential' }),
    answer: z.string().nullable(),
  }),
  refuses: ['object_not_found', 'invalid_request'],
})

export const readOutcome = endpoint({
  route: 'GET /api/ad-accounts/:id/outcomes/:delivery_id',
  access: { session: 'member' },
  summary: 'Ask Google what became of a conversion it has accepted',
  description:
    'Google matches some time after it has answered. Meta and TikTok say all they say at once, so only Google can be asked.',
  reply: z.object({
    state: z.enum(['processing', 'counted', 'refused', 'unknown']),
    reasons: z.array(z.string()).meta({ description: 'Google’s reasons and warnings, or why it could not be asked' }),
  }),
  refuses: ['object_not_found', 'invalid_request'],
})
