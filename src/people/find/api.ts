/** Finding objects of a workspace over HTTP, by name or by any id. Sessions only: no right of keys covers it. */
import { z } from 'zod'
import { endpoint } from '../../contract/endpoint.ts'
import { FAITHFUL, Id } from '../../contract/fields.ts'
import { HISTORY_KINDS } from '../../contract/history.ts'
import { unquoted } from '../../contract/sought.ts'

const FOUND_KINDS = [...HISTORY_KINDS, 'click', 'person'] as const

/** The most objects of an answer. */
export const MOST_FOUND = 30

const FoundObject = z
  .object({
    kind: z.enum(FOUND_KINDS).meta({ description: 'person: somebody who is counted and charged once' }),
    id: Id,
    name: z.string(),
    found_by: z.enum(['id', 'transaction_id', 'ref_id', 'telegram_user_id', 'name']),
  })
  .meta({ id: 'FoundObject' })
export type FoundObject = z.output<typeof FoundObject>

export const findObjects = endpoint({
  route: 'GET /api/find',
  access: { session: 'member' },
  summary: 'Find objects by name or id',
  description:
    `At most ${MOST_FOUND}: exact ids first, then names that begin with the text, then names that hold it; of equal rank, what was changed last. ` +
    'Ids are found in any form and case, with spaces or quotes around them. What the caller may not see is not found. Subscribers are found by their ids only.',
  query: z.object({
    q: z
      .string()
      .overwrite(unquoted)
      .min(2)
      .max(200)
      .refine(...FAITHFUL)
      .meta({
        description:
          'Part of a name or of a campaign’s key, or exactly an id, a transaction id, the click id of a traffic source, or a Telegram user id',
      }),
  }),
  reply: z.object({ data: z.array(FoundObject) }),
})
