/** The queue of questions: one is answered at a time, and workspaces take turns, however many questions each of them asks. */
import { refuse } from '../../contract/refusals.ts'

/** The most waiting questions of a workspace, not counting the one that is being answered. */
const MOST_WAITING = 4

const TOO_MANY = {
  error: `${MOST_WAITING} questions of this workspace are waiting`,
  hint: 'Ask again when one of them is answered.',
  headers: { 'retry-after': '5' },
}

type Turns = {
  /**
   * Runs `deed` when it is the workspace's turn. Refuses `explore_busy` where four of its questions wait, unless the question has had a turn
   * already (`goesOn`): then it is the workspace's next one.
   */
  run<T>(org_id: number, deed: () => Promise<T>, goesOn?: boolean): Promise<T>
  /** Refuses all waiting and later questions with `explore_busy`. */
  close(): void
}

/** Opens an empty queue. Between two questions of a workspace each other workspace has at most one. */
export function openTurns(): Turns {
  /** The waiting questions of each workspace; the workspace with the next turn first. */
  const waiting = new Map<number, PromiseWithResolvers<void>[]>()
  let isTaken = false
  let isClosed = false

  async function take(org_id: number, goesOn: boolean): Promise<void> {
    if (isClosed) refuse('explore_busy')
    if (!isTaken) {
      isTaken = true
      return
    }
    const own = waiting.get(org_id) ?? []
    if (!goesOn && own.length >= MOST_WAITING) refuse('explore_busy', TOO_MANY)
    waiting.set(org_id, own)
    const turn = Promise.withResolvers<void>()
    if (goesOn) own.unshift(turn)
    else own.push(turn)
    await turn.promise
    if (isClosed) refuse('explore_busy')
  }

  function pass(org_id: number): void {
    const own = waiting.get(org_id)
    if (own !== undefined) {
      waiting.delete(org_id)
      waiting.set(org_id, own)
    }
    const [next] = waiting
    if (next === undefined) isTaken = false
    else {
      const [id, questions] = next
      questions.shift()?.resolve()
      if (questions.length === 0) waiting.delete(id)
    }
  }

  return {
    async run(org_id, deed, goesOn = false) {
      await take(org_id, goesOn)
      try {
        return await deed()
      } finally {
        pass(org_id)
      }
    },
    close() {
      isClosed = true
      for (const turn of [...waiting.values()].flat()) turn.resolve()
      waiting.clear()
    },
  }
}
