/** The history over HTTP: who changed what, and putting it back. Sessions only: no right of keys covers these routes. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Id, Instant, Page } from '../../contract/fields.ts'
import { HISTORY_KINDS } from '../../contract/history.ts'
import { listFile } from '../../contract/list-files.ts'
import { paging } from '../../contract/paging.ts'
import { rawParameter } from '../../contract/window.ts'
import { MARKED_DAYS } from '../../traffic/notes/api.ts'

const Value = z.json()

export const HistoryField = z
  .union([
    z.object({ name: z.string(), before: Value, after: Value }),
    z.object({ name: z.string(), is_secret: z.literal(true) }),
  ])
  .meta({ id: 'HistoryField', description: 'A changed field, or only that a secret has changed' })

const HistoryActor = z
  .object({
    kind: z.enum(['person', 'key', 'sluice']),
    id: Id.nullable(),
    name: z.string().nullable().meta({ description: 'The present name of the person or the key' }),
    tool: z.string().nullable().meta({ description: 'The tool, if an AI host called one' }),
    host: z
      .object({ name: z.string(), version: z.string() })
      .nullable()
      .meta({ description: 'The AI host, as it names itself' }),
    because: z
      .enum(['rule', 'schedule', 'account_sync'])
      .nullable()
      .meta({ description: 'Why Sluice itself made the change' }),
  })
  .meta({ id: 'HistoryActor' })

/** The codes with which putting a change back is refused. */
const CANNOT_UNDO = ['changed_since', 'undone_before', 'cannot_undo', 'undo_needs'] as const

export const HistoryRow = z
  .object({
    id: Id,
    created_at: Instant,
    act_id: Id.meta({ description: 'The same for all rows that one call wrote' }),
    actor: HistoryActor,
    kind: z.enum(HISTORY_KINDS),
    object_id: Id.nullable(),
    object_name: z.string().meta({ description: 'As it was after the change, or before a deletion' }),
    change: z.enum(['created', 'changed', 'deleted']),
    fields: z.array(HistoryField).meta({
      description:
        'The fields that differ, as the object’s own GET has them. Created: `before` is null. Deleted: `after` is null, and all fields are listed',
    }),
    undoes_id: Id.nullable().meta({ description: 'The row that this change puts back' }),
    undone_by_id: Id.nullable().meta({ description: 'The row that puts this change back' }),
    cannot_undo: z.enum(CANNOT_UNDO).nullable().meta({ description: 'The code that undo would answer with now' }),
  })
  .meta({ id: 'HistoryRow' })
export type HistoryRow = z.output<typeof HistoryRow>

const filters = {
  kind: z.enum(HISTORY_KINDS).optional(),
  id: Id.optional().meta({ description: 'The id of the object' }),
  actor: z
    .union([z.literal('sluice'), Id])
    .optional()
    .meta({ description: 'The id of a person or a key, or sluice' }),
  act: Id.optional().meta({ description: 'An act_id' }),
  from: rawParameter({ description: 'Changes from this moment on, ISO 8601' }),
  to: rawParameter({ description: 'Changes until this moment, inclusive, ISO 8601' }),
}

const about =
  'Members do not get rows of kinds that they may not read. Secrets are never included. Rows of one object are in the order in which its changes were committed.'

export const listHistory = endpoint({
  route: 'GET /api/history',
  access: { session: 'member' },
  summary: 'List changes of the workspace’s objects, newest first',
  description: about,
  query: z.object({ ...paging, ...filters }),
  reply: Page(HistoryRow),
  refuses: ['invalid_window'],
})

export const exportHistory = endpoint({
  ...listFile,
  route: 'GET /api/history/csv',
  summary: 'Save the listed changes as a CSV file',
  description: `${about} ${listFile.description} cannot_undo tells only what does not depend on the present values.`,
  query: z.object(filters),
  refuses: ['invalid_window', 'too_many_lines'],
})

const leave_out = z.array(Id).max(10_000).default([]).meta({ description: 'Ids of rows that stay as they are' })

const undone = {
  reply: z.object({ act_id: Id, data: z.array(HistoryRow) }),
  refuses: [
    'object_not_found',
    'role_forbidden',
    'changed_since',
    'undone_before',
    'cannot_undo',
    'undo_needs',
    'already_exists',
    'in_use',
    'rate_unknown',
    'left_out_limit',
  ],
} as const

export const undoChange = endpoint({
  route: 'POST /api/history/:id/undo',
  access: { session: 'member' },
  history: { none: 'each object that it puts back has a row of its own kind' },
  summary: 'Put a change back',
  description:
    'Writes the earlier values of the fields that the change has changed, with the same checks as any other write and the role that this write asks for. A created object is archived, or deleted if its kind has no archive and nothing uses it. The new rows name the old ones, and can be put back as well.',
  body: z.object({
    whole_act: z
      .boolean()
      .default(false)
      .meta({ description: 'Puts back every row of its act: all or none, except those in leave_out' }),
    leave_out,
  }),
  ...undone,
})

/** The most rows of a key that are put back in one act: each takes about ten statements in one transaction. */
export const MOST_UNDONE = 500

export const undoKey = endpoint({
  route: 'POST /api/api-keys/:id/undo',
  access: { session: 'admin' },
  history: { none: 'each object that it puts back has a row of its own kind' },
  summary: 'Put back what a key changed since a moment, in one act',
  description: `Every row of the key in the active organization, newest first, all or none, except those in leave_out and those that were put back before. Each is put back as by POST /api/history/:id/undo. A refusal begins with the object and the id of its row, so that it can be left out. At most ${MOST_UNDONE} rows.`,
  body: z.object({
    since: Instant.meta({ description: 'The first moment whose changes are put back' }),
    leave_out,
  }),
  ...undone,
})

export const Mark = z
  .object({
    at: Instant,
    day: z.iso.date().meta({ description: 'The day of the note, or the UTC day of the change' }),
    kind: z.enum(['note', 'paused', 'resumed', 'archived', 'published', 'rule']),
    text: z.string().meta({ description: 'The note, or the name of the object' }),
    campaign_id: Id.nullable(),
    history_id: Id.nullable().meta({ description: 'The row of the history; null for a note' }),
  })
  .meta({ id: 'Mark' })
export type Mark = z.output<typeof Mark>

export const listMarks = endpoint({
  route: 'GET /api/marks',
  access: { session: 'member' },
  summary: 'List marks for charts, oldest first',
  description:
    'Notes of days, and from the history: campaigns that were paused, resumed or archived, and published versions of click flows. At most the newest 1,000.',
  query: z.object(MARKED_DAYS),
  reply: z.object({ data: z.array(Mark) }),
})
