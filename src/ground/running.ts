/** Running parts, such as periodic jobs, workers and caches that follow the database, and how they are closed together. */
import type { Ground } from './room.ts'

type RunningPart = { close(): unknown }

/** Opens a part that needs nothing but the ground, mostly a periodic job. */
export type OpenPart = (ground: Ground) => RunningPart

/** Registers a part to be closed with the house, and returns it. */
export type TakePart = <T extends RunningPart>(part: T) => T

/** A part is closed before the parts that were registered earlier, because it may use them. */
export const into =
  (running: AsyncDisposableStack): TakePart =>
  part =>
    running.adopt(part, async () => void (await part.close()))
