/** Immediate requests to ad platforms over HTTP: test events, and the results of accepted conversions. Sessions only. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { EventType } from '../../contract/event-types.ts'
import { Id } from '../../contract/fields.ts'

export const testAdAccount = endpoint({
  route: 'POST /api/ad-accounts/:id/test',
  access: { session: 'admin' },
  history: { none: 'it sends a test event and stores nothing' },
  summary: 'Send a test event and show the platform’s answer',
  description:
    'Meta and TikTok need the test code shown in their Events Manager; Google only validates the event. Sluice records nothing, and the account’s state stays.',
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
  summary: 'Read Google’s result for a conversion it accepted',
  description:
    'Google matches conversions some time after its answer. Meta and TikTok give their result in the answer, so this is for Google only.',
  reply: z.object({
    state: z.enum(['processing', 'counted', 'refused', 'unknown']),
    reasons: z.array(z.string()).meta({ description: 'Google’s reasons and warnings, or why the result is unknown' }),
  }),
  refuses: ['object_not_found', 'invalid_request'],
})
