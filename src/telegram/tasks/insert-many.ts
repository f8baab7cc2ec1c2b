/** Inserts many tasks of one decision. */
import type { Kysely } from 'kysely'
import { newId } from '../../contract/ids.ts'
import type { Tables } from '../../ground/db/tables.ts'
import type { insertTask } from './tasks.ts'

type NewTask = Parameters<typeof insertTask>[1]

/** Inserts tasks; existing ones with the same key stay unchanged. Call `wakeTasks` afterwards. */
export async function insertTasks(db: Kysely<Tables>, tasks: readonly NewTask[]): Promise<void> {
  if (tasks.length === 0) return
  const created_at = new Date().toISOString()
  await db
    .insertInto('bot_tasks')
    .values(
      tasks.map(task => ({
        ...task,
        id: newId(),
        asked: JSON.stringify(task.asked),
        state: 'waiting',
        created_at,
      })),
    )
    .onConflict(on => on.columns(['org_id', 'bot_id', 'kind', 'once_key']).doNothing())
    .execute()
}
