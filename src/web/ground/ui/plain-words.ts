/** The words for errors in forms. */
import { z } from 'zod'

/** Replaces zod's messages for common errors. */
export function setFormMessages() {
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

/** Turns part of a sentence into a sentence: "must be a number" becomes "Must be a number." */
export function sentence(words: string): string {
  const first = words.charAt(0).toUpperCase() + words.slice(1)
  return /[.!?…]$/.test(first) ? first : `${first}.`
}
