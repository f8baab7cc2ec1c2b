// The side of a measuring child (children.ts) in its own process.

/** Answers each question of the parent process, and ends with it. */
export function answerParent<Question, Answer>(answer: (question: Question) => Promise<Answer>): void {
  process.on('message', (question: Question) => {
    answer(question).then(
      measured => process.send?.({ measured }),
      (error: unknown) => process.send?.({ failed: error instanceof Error ? error.message : String(error) }),
    )
  })
  process.on('disconnect', () => process.exit())
  console.log('open at its parent')
}
