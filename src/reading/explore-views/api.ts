/** Saved views of the Report page over HTTP: questions kept under a name, somebody's own or the workspace's. All of it needs a session; no key reaches it. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { ExploreQuestion } from '../../contract/explore.ts'
import { Done, Id, Instant, Name } from '../../contract/fields.ts'

const NAME_LENGTH = 80
/** Room for 12 filters of a few hundred ids in all; a list of views is sent whole. */
const MOST_CHARACTERS = 16_384
/** A person has no more of their own in a workspace. */
export const MOST_OWN = 50
/** A workspace has no more that all see. */
export const MOST_SHARED = 100

const isSmall = (value: unknown): boolean => JSON.stringify(value).length <= MOST_CHARACTERS
const TOO_LONG = `is longer than ${MOST_CHARACTERS.toLocaleString('en-US')} characters as JSON`

const Question = ExploreQuestion.superRefine((question, context) => {
  if (!isSmall(question)) context.addIssue({ code: 'custom', message: TOO_LONG })
  for (const field of ['within', 'after'] as const)
    if (question[field] !== undefined)
      context.addIssue({ code: 'custom', path: [field], message: 'is of one branch, which is not saved' })
})

const Screen = z.record(z.string().max(40), z.json()).refine(isSmall, { message: TOO_LONG }).nullable().meta({
  description: 'What the dashboard keeps beside the question: its days, columns and tab. Given back as it was sent',
})

const IsShared = z
  .boolean()
  .meta({ description: 'True: the workspace’s. False: seen by whoever saved it, and nobody else' })
const IsStartPage = z.boolean().meta({
  description:
    'The Report page opens with it: of one’s own for oneself, of the workspace’s for all who have none of their own. At most one is',
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
    is_own: z.boolean().meta({ description: 'Whether the one who asks has saved it' }),
    saved_by: z.string().nullable().meta({ description: 'The name of whoever saved it' }),
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
  description: 'One’s own and the workspace’s. Others’ own are not among them, whoever asks.',
  reply: z.object({ data: z.array(ExploreView) }),
})

export const createExploreView = endpoint({
  route: 'POST /api/explore-views',
  access: { session: 'member' },
  summary: 'Save a question under a name',
  description: `One’s own unless it is shared, which owners and admins do. A person has at most ${MOST_OWN} of their own, a workspace ${MOST_SHARED}.`,
  body: ExploreViewDraft,
  reply: ExploreView,
  status: 201,
  refuses: ['invalid_request', 'role_forbidden'],
})

export const updateExploreView = endpoint({
  route: 'PATCH /api/explore-views/:id',
  access: { session: 'member' },
  summary: 'Change a saved view',
  description:
    'Fields that are not sent stay as they are. Everyone changes their own; owners and admins share theirs, and change any that is shared. A view that is shared, or taken back, is no start page unless that is sent as well; only whoever saved it takes it back.',
  body: ExploreViewDraft.partial(),
  reply: ExploreView,
  refuses: ['object_not_found', 'invalid_request', 'role_forbidden'],
})

export const deleteExploreView = endpoint({
  route: 'DELETE /api/explore-views/:id',
  access: { session: 'member' },
  summary: 'Delete a saved view',
  description: 'Everyone deletes their own; owners and admins any that is shared.',
  reply: Done,
  refuses: ['object_not_found', 'role_forbidden'],
})
