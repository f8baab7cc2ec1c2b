/** Notes of days over HTTP, which stand on charts. Sessions only: no right of keys covers these routes. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, Id, Instant, Name, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'

export const Note = z
  .object({
    id: Id,
    day: z.iso.date(),
    campaign_id: Id.nullable().meta({ description: 'null: the whole workspace' }),
    text: z.string(),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'Note' })
export type Note = z.output<typeof Note>

const NoteDraft = z.strictObject({ day: z.iso.date(), campaign_id: Id.nullish(), text: Name(1000) })

/** Days from and to which notes and marks are listed, both inclusive. */
export const MARKED_DAYS = {
  date_from: z.iso.date().optional().meta({ description: 'The first day' }),
  date_to: z.iso.date().optional().meta({ description: 'The last day' }),
  campaign_id: Id.optional().meta({ description: 'Those of this campaign and of the whole workspace' }),
}

export const listNotes = endpoint({
  route: 'GET /api/notes',
  access: { session: 'member' },
  summary: 'List notes of days, newest first',
  query: z.object({ ...paging, ...MARKED_DAYS }),
  reply: Page(Note),
})

export const readNote = endpoint({
  route: 'GET /api/notes/:id',
  access: { session: 'member' },
  summary: 'Read a note of a day',
  reply: Note,
  refuses: ['object_not_found'],
})

export const createNote = endpoint({
  route: 'POST /api/notes',
  access: { session: 'admin' },
  history: 'note',
  summary: 'Create a note of a day',
  body: NoteDraft,
  reply: Note,
  status: 201,
  refuses: ['invalid_request'],
})

export const updateNote = endpoint({
  route: 'PATCH /api/notes/:id',
  access: { session: 'admin' },
  history: 'note',
  summary: 'Change a note of a day',
  body: NoteDraft.partial(),
  reply: Note,
  refuses: ['object_not_found', 'invalid_request'],
})

export const deleteNote = endpoint({
  route: 'DELETE /api/notes/:id',
  access: { session: 'admin' },
  history: 'note',
  summary: 'Delete a note of a day',
  reply: Done,
  refuses: ['object_not_found'],
})
