/** Who is answered next: one question at a time, and workspaces in turn, however many questions each of them asks. */
import { refuse } from '../../contract/refusals.ts'

/** Of a workspace, beside the question that is being answered. */
const MOST_WAITING = 4

const TOO_MANY = {
  error: `${MOST_WAITING} questions of this workspace are waiting`,
  hint: 'Ask again when one of them is answered.',
  headers: { 'retry-after': '5' },
}

type Turns = {
  /** Runs `deed` when it is the workspace's turn. Refuses `explore_busy` where four of its questions wait. */
  run<T>(org_id: number, deed: () => Promise<T>): Promise<T>
}

/** Turns that nobody has yet. A workspace waits for one question of each other workspace at most, and then asks one of its own. */
export function openTurns(): Turns {
  /** What to call when it is the turn of a question; the workspace with the next turn first. */
  const waiting = new Map<number, (() => void)[]>()
  let isTaken = false

  async function take(org_id: number): Promise<void> {
    if (!isTaken) {
      isTaken = true
      return
    }
    const own = waiting.get(org_id) ?? []
    if (own.length >= MOST_WAITING) refuse('explore_busy', TOO_MANY)
    waiting.set(org_id, own)
    await new Promise<void>(resolve => own.push(resolve))
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
      questions.shift()?.()
      if (questions.length === 0) waiting.delete(id)
    }
  }

  return {
    async run(org_id, deed) {
      await take(org_id)
      try {
        return await deed()
      } finally {
        pass(org_id)
      }
    },
  }
}
