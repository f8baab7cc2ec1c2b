/**
 * Which organization a key acts in: its grant's, or while its permissions were never saved that of its owner's earliest membership. The
 * door decides by it, and the list of keys shows it.
 */

/** Joins the organization `o` to keys `k` with their grants `g`; none where there is none. */
export const JOIN_ORGANIZATION = `
  left join lateral (
    select org_id from members where user_id = k.user_id and g.key_id is null order by joined_at, id limit 1
  ) earliest on true
  left join organizations o on o.org_id = coalesce(g.org_id, earliest.org_id)`
