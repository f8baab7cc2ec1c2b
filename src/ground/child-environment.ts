/**
 * The environment of a child process: without the settings, which hold secrets, because others may read the environment of a process. A cache of
 * compiled code (`NODE_COMPILE_CACHE`) saves a third of the processor time of its start.
 */
export function childEnvironment(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  return { PATH, TZ: 'UTC', ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) }
}
