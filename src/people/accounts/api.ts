/** What belongs to a person, in every workspace: the browsers they are signed in with, and what they have chosen for themselves. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, Id, Instant, Page } from '../../contract/fields.ts'

/** A browser somebody is signed in with. `current` is the one that asks. `last_seen_at` is exact to a day. */
export const Session = z
  .object({
    id: Id,
    created_at: Instant,
    last_seen_at: Instant,
    expires_at: Instant,
    ip_address: z.string().nullable(),
    user_agent: z.string().nullable(),
    current: z.boolean(),
  })
  .meta({ id: 'Session' })

/** What someone has chosen for themselves, in every workspace. */
const Preferences = z
  .object({
    timezone: z
      .string()
      .trim()
      .max(64)
      .nullable()
      .meta({
        description:
          'By whose clock the dashboard tells them times and begins days, an IANA name; null: the workspace’s',
        examples: ['Europe/Kyiv'],
      }),
  })
  .meta({ id: 'Preferences' })

export const readPreferences = endpoint({
  route: 'GET /api/preferences',
  access: { session: 'person' },
  summary: 'What you have chosen for yourself',
  reply: Preferences,
})

export const replacePreferences = endpoint({
  route: 'PUT /api/preferences',
  access: { session: 'person' },
  summary: 'Choose for yourself',
  body: Preferences,
  reply: Preferences,
  refuses: ['tz_unknown'],
})

export const listSessions = endpoint({
  route: 'GET /api/sessions',
  access: { session: 'person' },
  summary: 'The browsers you are signed in with',
  reply: Page(Session),
})

export const revokeSession = endpoint({
  route: 'DELETE /api/sessions/:id',
  access: { session: 'person' },
  summary: 'Sign one of your browsers out, at once',
  reply: Done,
  refuses: ['object_not_found'],
})
