/** The hosts of the demo's own page. */
export const PAGE_PORT = 8090
export const PAGE_HOSTS = [`localhost:${PAGE_PORT}`, `127.0.0.1:${PAGE_PORT}`] as const
