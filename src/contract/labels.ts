/** The tags and the note of an object: the fields of its answers, and the endpoints that write them. */
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { FAITHFUL, Id } from './fields.ts'
import type { HistoryKind } from './history.ts'

/** The most tags of one object. */
const MOST_TAGS = 20
const LONGEST_NOTE = 4000

const isOnce = (ids: readonly string[]): boolean => new Set(ids).size === ids.length

/** Fields of campaigns, offers, landings, funnels, click flows, traffic sources and networks. Keys are not answered with them. */
export const LABELS = {
  tag_ids: z.array(Id).meta({ description: 'Its tags' }),
  note: z.string().nullable().meta({ description: 'A note of the workspace about it' }),
}
export type Labels = { tag_ids: string[]; note: string | null }

/** The filter of lists. */
export const TagFilter = Id.optional().meta({ description: 'Only those with this tag' })

type TagsRoute = `PUT /api/${string}/:id/tags`
type NoteRoute = `PUT /api/${string}/:id/note`

const TaggedObject = z.object({ id: Id, tag_ids: LABELS.tag_ids }).meta({ id: 'TaggedObject' })
const NotedObject = z.object({ id: Id, note: LABELS.note }).meta({ id: 'NotedObject' })

/** The endpoint that writes the tags of an object. */
export const tagsEndpoint = <Route extends TagsRoute>(route: Route, history: HistoryKind, noun: string) =>
  endpoint({
    route,
    access: { session: 'admin' },
    history,
    summary: `Set the tags of ${noun}`,
    description: `Replaces all of its tags, at most ${MOST_TAGS}. Tags are part of no address and no macro.`,
    body: z.strictObject({
      tag_ids: z.array(Id).max(MOST_TAGS).refine(isOnce, { message: 'names a tag twice' }),
    }),
    reply: TaggedObject,
    refuses: ['object_not_found', 'invalid_request'],
  })

/** The endpoint that writes the note of an object. */
export const noteEndpoint = <Route extends NoteRoute>(route: Route, history: HistoryKind, noun: string) =>
  endpoint({
    route,
    access: { session: 'admin' },
    history,
    summary: `Set the note of ${noun}`,
    body: z.strictObject({
      note: z
        .string()
        .trim()
        .max(LONGEST_NOTE)
        .refine(...FAITHFUL)
        .nullable()
        .transform(note => (note === '' ? null : note)),
    }),
    reply: NotedObject,
    refuses: ['object_not_found'],
  })
