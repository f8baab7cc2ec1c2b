/** What zod remarks on a form, in the words of a form. */
import { z } from 'zod'

export function speakPlainly() {
  z.config({
    customError: issue => {
      if (issue.input === undefined || issue.input === null || issue.input === '') return 'Fill this in.'
      if (issue.code === 'too_small' && issue.origin === 'string')
        return Number(issue.minimum) <= 1 ? 'Fill this in.' : `Needs at least ${issue.minimum} characters.`
      if (issue.code === 'too_big' && issue.origin === 'string') return `Takes at most ${issue.maximum} characters.`
      if (issue.code === 'invalid_format' && issue.format === 'email') return 'This is not an e-mail address.'
      return undefined
    },
  })
}
