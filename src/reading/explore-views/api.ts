/** Saved views of the Report page over HTTP: named questions, private or shared. All routes need a session; keys have no access. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { ExploreQuestion } from '../../contract/explore.ts'
import { Done, Id, Instant, Name } from '../../contract/fields.ts'

const NAME_LENGTH = 80
/** Room for 12 filters with a few hundred ids in all; not more, because the list sends every view in full. */
const MOST_CHARACTERS = 16_384
/** Private views of a person in a workspace. */
export const MOST_OWN = 50
/** Shared views of a workspace. */
export const MOST_SHARED = 100

const isSmall = (value: unknown): boolean => JSON.stringify(value).length <= MOST_CHARACTERS
const TOO_LONG = `is longer than ${MOST_CHARACTERS.toLocaleString('en-US')} characters as JSON`

const Question = ExploreQuestion.superRefine((question, context) => {
  if (!isSmall(question)) context.addIssue({ code: 'custom', message: TOO_LONG })
  for (const field of ['within', 'after'] as const)
    if (question[field] !== undefined)
      context.addIssue({ code: 'custom', path: [field], message: 'belongs to an opened row, which is not saved' })
})

const Screen = z.record(z.string().max(40), z.json()).refine(isSmall, { message: TOO_LONG }).nullable().meta({
  description: 'State of the dashboard besides the question: its days, columns and tab. Answered as it was sent',
})

const IsShared = z
  .boolean()
  .meta({ description: 'True: everyone in the workspace sees it. False: only the person who saved it' })
const IsStartPage = z.boolean().meta({
  description:
    'Whether the Report page opens with it: a private one for its owner, a shared one for everyone without a start page of their own. At most one of each',
})

export const ExploreView = z
  .object({
    id: Id,
    name: z.string(),
    question: ExploreQuestion.nullable().meta({
      description: 'As it was saved, with or without a window; null where this version of Sluice cannot ask it',
    }),
    screen: Screen,
    is_shared: IsShared,
    is_start_page: IsStartPage,
    is_own: z.boolean().meta({ description: 'Whether the caller saved it' }),
    saved_by: z.string().nullable().meta({ description: 'The name of the person who saved it' }),
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'ExploreView' })
export type ExploreView = z.output<typeof ExploreView>

const ExploreViewDraft = z.object({
  name: Name(NAME_LENGTH),
  question: Question,
  screen: Screen.optional(),
  is_shared: IsShared.optional(),
  is_start_page: IsStartPage.optional(),
})

export const listExploreViews = endpoint({
  route: 'GET /api/explore-views',
  access: { session: 'member' },
  summary: 'List saved views of the Report page, by name',
  description: 'The caller’s private views and the workspace’s shared ones. Nobody sees private views of others.',
  reply: z.object({ data: z.array(ExploreView) }),
})

export const createExploreView = endpoint({
  route: 'POST /api/explore-views',
  access: { session: 'member' },
  history: 'view',
  summary: 'Save a question under a name',
  description: `Private unless is_shared, which needs an owner or admin. A person has at most ${MOST_OWN} private views, a workspace ${MOST_SHARED} shared ones.`,
  body: ExploreViewDraft,
  reply: ExploreView,
  status: 201,
  refuses: ['invalid_request', 'role_forbidden'],
})

export const updateExploreView = endpoint({
  route: 'PATCH /api/explore-views/:id',
  access: { session: 'member' },
  history: 'view',
  summary: 'Change a saved view',
  description:
    'Fields that are not sent stay as they are. Everyone changes their private views; owners and admins share theirs, and change any shared view. Only the person who saved a shared view makes it private again. Sharing it or making it private ends its being a start page, unless is_start_page is sent too.',
  body: ExploreViewDraft.partial(),
  reply: ExploreView,
  refuses: ['object_not_found', 'invalid_request', 'role_forbidden'],
})

export const deleteExploreView = endpoint({
  route: 'DELETE /api/explore-views/:id',
  access: { session: 'member' },
  history: 'view',
  summary: 'Delete a saved view',
  description: 'Everyone deletes their private views; owners and admins any shared view.',
  reply: Done,
  refuses: ['object_not_found', 'role_forbidden'],
})
