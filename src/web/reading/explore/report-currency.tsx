/** Rows by UTC day are in the workspace's reporting currency, like the overview's figures; all others are in US dollars. */
import { useActive } from '../../ground/active.ts'
import { isRateUnknown } from '../../ground/call.ts'
import { sentence } from '../../ground/ui/plain-words.ts'
import { useBranch } from './branch.tsx'
import type { Question } from './question.ts'

/** The question in that currency where possible, and the note about it. */
export function useReportingCurrency(question: Question): { question: Question; words: string | undefined } {
  const { reporting_currency: currency } = useActive()
  const { levels, time_zone, having } = question
  const isByUtcDay =
    levels.map(({ dimension }) => dimension).join() === 'day' && time_zone === undefined && having === undefined
  const isOther = currency !== null && currency !== 'USD' && isByUtcDay
  const asked = isOther ? { ...question, currency } : question
  const { error } = useBranch(asked, [], isOther)
  if (!isOther) return { question, words: undefined }
  if (isRateUnknown(error)) return { question, words: `Shown in USD: ${sentence(error?.message ?? '')}` }
  return { question: asked, words: `Amounts are in ${currency} at each UTC day’s rate. Files are in USD.` }
}
