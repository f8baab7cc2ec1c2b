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

/** Room for every figure, and for figures of one's own with long formulas. */
const MOST_REPORT_CHARACTERS = 8192

const ReportColumns = z
  .record(z.string().max(40), z.json())
  .refine(value => JSON.stringify(value).length <= MOST_REPORT_CHARACTERS, {
    message: `is longer than ${MOST_REPORT_CHARACTERS} characters as JSON`,
  })
  .nullable()
  .meta({
    description:
      'The columns that the Report page shows unless its address names others, figures of one’s own and colours among them, as the dashboard writes them; null: those that it opens with for everyone',
  })

/** What someone has chosen for themselves, in every workspace. */
const Preferences = z
  .object({
    report_columns: ReportColumns,
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
export type Preferences = z.output<typeof Preferences>

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
  body: Preferences.extend({
    report_columns: ReportColumns.optional().meta({ description: 'Stays as it is where it is left out' }),
  }).meta({ id: 'PreferencesDraft' }),
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

/** What a picture may weigh and measure. The dashboard makes it 256 pixels square before it is sent. */
export const AVATAR_BYTES = 256 * 1024
export const AVATAR_PIXELS = 1024

export const setAvatar = endpoint({
  route: 'PUT /api/avatar',
  access: { session: 'person' },
  summary: 'Set your picture',
  description: `A PNG, JPEG or WebP image of at most ${AVATAR_BYTES / 1024} KiB and ${AVATAR_PIXELS} pixels wide and high; what it is, its own bytes say.`,
  body: z.object({
    image: z
      .base64()
      .min(1)
      .max(Math.ceil(AVATAR_BYTES / 3) * 4 + 4)
      .meta({ description: 'The file in base64' }),
  }),
  reply: z.object({ image: z.string().meta({ description: 'The path it is served under, new with every picture' }) }),
})

export const deleteAvatar = endpoint({
  route: 'DELETE /api/avatar',
  access: { session: 'person' },
  summary: 'Remove your picture',
  reply: Done,
})

export const readAvatar = endpoint({
  route: 'GET /api/avatars/:id',
  access: { session: 'person' },
  visit: true,
  summary: "Someone's picture, to whoever is signed in and knows its path",
  answers: {
    200: { words: 'the picture', type: 'image/*' },
  },
  refuses: ['object_not_found', 'key_not_accepted', 'api_key_resource_forbidden', 'service_unavailable'],
})
