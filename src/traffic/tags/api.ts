/** Tags over HTTP: coloured labels of a workspace's objects. Sessions only: no right of keys covers these routes. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { Done, Id, Instant, Name, Page } from '../../contract/fields.ts'
import { paging } from '../../contract/paging.ts'

export const TAG_COLORS = ['gray', 'red', 'orange', 'yellow', 'green', 'teal', 'blue', 'purple', 'pink'] as const
const TagColor = z.enum(TAG_COLORS)

export const Tag = z
  .object({ id: Id, name: z.string(), color: TagColor, created_at: Instant, updated_at: Instant })
  .meta({ id: 'Tag' })
export type Tag = z.output<typeof Tag>

export const TagDraft = z.strictObject({
  name: Name(40).meta({ description: 'Unique in the workspace, whatever the case' }),
  color: TagColor,
})

export const listTags = endpoint({
  route: 'GET /api/tags',
  access: { session: 'member' },
  summary: 'List tags, newest first',
  query: z.object(paging),
  reply: Page(Tag),
})

export const readTag = endpoint({
  route: 'GET /api/tags/:id',
  access: { session: 'member' },
  summary: 'Read a tag',
  reply: Tag,
  refuses: ['object_not_found'],
})

export const createTag = endpoint({
  route: 'POST /api/tags',
  access: { session: 'admin' },
  history: 'tag',
  summary: 'Create a tag',
  body: TagDraft,
  reply: Tag,
  status: 201,
  refuses: ['already_exists'],
})

export const updateTag = endpoint({
  route: 'PATCH /api/tags/:id',
  access: { session: 'admin' },
  history: 'tag',
  summary: 'Change a tag',
  body: TagDraft.partial(),
  reply: Tag,
  refuses: ['object_not_found', 'already_exists'],
})

export const deleteTag = endpoint({
  route: 'DELETE /api/tags/:id',
  access: { session: 'admin' },
  history: 'tag',
  summary: 'Delete a tag, and take it off all objects',
  reply: Done,
  refuses: ['object_not_found'],
})
