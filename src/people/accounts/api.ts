/** Settings of a person in every workspace: their sessions, preferences and picture. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, Id, Instant, Page } from '../../contract/fields.ts'

/** A browser that a person is signed in with. `current` marks the caller's. `last_seen_at` is accurate to a day. */
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

/** Large enough for every figure, and for custom figures with long formulas. */
const MOST_REPORT_CHARACTERS = 8192

const ReportColumns = z
  .record(z.string().max(40), z.json())
  .refine(value => JSON.stringify(value).length <= MOST_REPORT_CHARACTERS, {
    message: `is longer than ${MOST_REPORT_CHARACTERS} characters as JSON`,
  })
  .nullable()
  .meta({
    description:
      'The columns of the Report page, including custom figures and colours, in the form that the dashboard writes. Columns in the page’s address override them. Null: the default columns',
  })

/** A person's preferences, the same in every workspace. */
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
          'The time zone in which the dashboard shows times and begins days for this person, as an IANA name. Null: the workspace’s time zone',
        examples: ['Europe/Kyiv'],
      }),
  })
  .meta({ id: 'Preferences' })
export type Preferences = z.output<typeof Preferences>

const ReadPreferences = Preferences.extend({
  is_operator: z.boolean().meta({ description: 'Whether you run this installation, and may back it up as an owner' }),
}).meta({ id: 'ReadPreferences' })

export const readPreferences = endpoint({
  route: 'GET /api/preferences',
  access: { session: 'person' },
  summary: 'Read your preferences',
  reply: ReadPreferences,
})

export const replacePreferences = endpoint({
  route: 'PUT /api/preferences',
  access: { session: 'person' },
  history: { none: 'it belongs to a person, not to a workspace' },
  summary: 'Replace your preferences',
  body: Preferences.extend({
    report_columns: ReportColumns.optional().meta({ description: 'Unchanged if omitted' }),
  }).meta({ id: 'PreferencesDraft' }),
  reply: ReadPreferences,
  refuses: ['tz_unknown'],
})

export const listSessions = endpoint({
  route: 'GET /api/sessions',
  access: { session: 'person' },
  summary: 'List the browsers you are signed in with',
  reply: Page(Session),
})

export const revokeSession = endpoint({
  route: 'DELETE /api/sessions/:id',
  access: { session: 'person' },
  history: { none: 'it belongs to a person, not to a workspace' },
  summary: 'Sign out one of your browsers at once',
  reply: Done,
  refuses: ['object_not_found'],
})

/** The largest picture accepted. The dashboard scales it to 256 pixels square before sending it. */
export const AVATAR_BYTES = 256 * 1024
export const AVATAR_PIXELS = 1024

export const setAvatar = endpoint({
  route: 'PUT /api/avatar',
  access: { session: 'person' },
  history: { none: 'it belongs to a person, not to a workspace' },
  summary: 'Set your picture',
  description: `A PNG, JPEG or WebP image of at most ${AVATAR_BYTES / 1024} KiB and ${AVATAR_PIXELS} pixels wide and high. The type is read from the bytes of the file.`,
  body: z.object({
    image: z
      .base64()
      .min(1)
      .max(Math.ceil(AVATAR_BYTES / 3) * 4 + 4)
      .meta({ description: 'The file in base64' }),
  }),
  reply: z.object({ image: z.string().meta({ description: 'The path of the picture, new with every upload' }) }),
})

export const deleteAvatar = endpoint({
  route: 'DELETE /api/avatar',
  access: { session: 'person' },
  history: { none: 'it belongs to a person, not to a workspace' },
  summary: 'Remove your picture',
  reply: Done,
})

export const readAvatar = endpoint({
  route: 'GET /api/avatars/:id',
  access: { session: 'person' },
  visit: true,
  summary: "Read a person's picture",
  answers: {
    200: { words: 'the picture. Any signed-in person who knows the path may read it', type: 'image/*' },
  },
  refuses: ['object_not_found', 'key_not_accepted', 'api_key_resource_forbidden', 'service_unavailable'],
})
