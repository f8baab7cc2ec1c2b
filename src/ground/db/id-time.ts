/** SQL of the time of an id: the milliseconds since 1970 of the UUIDv7 that the SQL `id` selects. */
export const msOfId = (id: string) => `('x' || substr(replace(${id}::text, '-', ''), 1, 12))::bit(48)::bigint`
