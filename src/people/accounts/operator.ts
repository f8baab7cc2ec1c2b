/**
 * Who runs this installation, and so may see what belongs to all its organizations. An owner of one organization must learn nothing of another.
 */
import { sql } from 'kysely'
import type { Ground } from '../../ground/room.ts'

/**
 * Whether the person runs the installation. With OPERATORS: if it names their address and they have opened a mail there, so that nobody can sign up
 * with it first. Without: if they are an owner of every organization, deleted ones too, so that they may read everything already.
 */
export async function isOperator({ db, config }: Pick<Ground, 'db' | 'config'>, user_id: string): Promise<boolean> {
  if (config.operators.length > 0) {
    const named = await db
      .selectFrom('users')
      .select('id')
      .where('id', '=', user_id)
      .where('email_verified', '=', true)
      .where('email', 'in', config.operators)
      .executeTakeFirst()
    return named !== undefined
  }
  const { rows } = await sql<{ is_so: boolean | null }>`
    select bool_and(m.user_id is not null) as is_so
    from organizations o
    left join members m on m.org_id = o.org_id and m.user_id = ${user_id} and m.role = 'owner'`.execute(db)
  return rows[0]?.is_so === true
}
