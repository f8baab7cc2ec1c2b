/**
 * Default messages for invalid fields, in requests and forms, unless a schema has a better one. A message follows the field's name ("name: must not be
 * empty") and says what to send.
 */
import { z } from 'zod'

type Issue = z.core.$ZodRawIssue

/** Longer lists of allowed values are cut, because nobody reads them. */
const MOST_NAMED = 30

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

const FORMATS: Readonly<Record<string, string>> = {
  email: 'an e-mail address',
  url: 'a web address, such as https://example.com/',
  uuid: 'a uuid',
  date: 'a day, such as 2026-01-31',
  datetime: 'a time, such as 2026-01-31T12:00:00Z',
}

z.config({ customError: wordsOf })

function wordsOf(issue: Issue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : kindWords(issue)
    case 'too_small':
      return sizeWords('at least', issue, issue.minimum)
    case 'too_big':
      return sizeWords('at most', issue, issue.maximum)
    case 'invalid_value':
      return valueWords(issue.values)
    case 'invalid_format':
      return FORMATS[issue.format] === undefined ? undefined : `must be ${FORMATS[issue.format]}`
    case 'not_multiple_of':
      return issue.divisor === 1 ? 'must be a whole number' : `must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return `there is no ${issue.keys.map(key => `"${key}"`).join(', ')} here`
    case 'invalid_union':
      return unionWords(issue)
    default:
      return undefined
  }
}

function kindWords({ expected, input }: Issue & { code: 'invalid_type' }): string | undefined {
  if (expected === 'number' && typeof input === 'number') return 'must be a finite number'
  const kind = KINDS[expected]
  return kind === undefined ? undefined : `must be ${kind}`
}

type Sized = { readonly origin: string; readonly inclusive?: boolean | undefined; readonly exact?: boolean | undefined }

function sizeWords(bound: string, { origin, inclusive = true, exact = false }: Sized, size: number | bigint): string {
  const isLeast = bound === 'at least'
  const count = exact ? `exactly ${size}` : `${bound} ${size}`
  if (origin === 'string')
    return isLeast && size === 1 ? 'must not be empty' : `must be ${count} character${size === 1 ? '' : 's'} long`
  if (origin === 'array' || origin === 'set')
    return isLeast && size === 1 ? 'must not be empty' : `must have ${count} ${size === 1 ? 'entry' : 'entries'}`
  if (inclusive) return `must be ${count}`
  return `must be ${isLeast ? 'more' : 'less'} than ${size}`
}

/** The message for a value that may have several forms. It joins the messages of the forms if each is short. */
function unionWords({ errors, discriminator, options }: Issue & { code: 'invalid_union' }): string {
  if (discriminator !== undefined && Array.isArray(options)) return valueWords(options)
  const first = errors.flatMap(([fault]) => fault ?? [])
  const isPlain = first.length > 0 && first.every(({ path }) => path.length === 0)
  return isPlain ? [...new Set(first.map(({ message }) => message))].join(' or ') : 'has none of the forms it may have'
}

function valueWords(values: readonly unknown[]): string {
  const named = values.slice(0, MOST_NAMED).map(String)
  if (values.length === 1) return `must be ${named.join('')}`
  const more = values.length > MOST_NAMED ? ' …' : ''
  return `must be one of ${named.join(', ')}${more}`
}
