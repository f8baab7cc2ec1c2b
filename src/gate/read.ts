/**
 * Checks what a request says about its body, and parses a JSON body strictly: valid UTF-8, no byte order mark, no `__proto__`, no text that
 * PostgreSQL cannot store, at most 32 levels of nesting (measured: deeper nesting blocks the process before it can be refused).
 */
import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import sjson from 'secure-json-parse'
import { isFaithful } from '../contract/fields.ts'
import { refuse } from '../contract/refusals.ts'

export const BODY_LIMIT = 1_048_576
const MAX_DEPTH = 32

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The parsed body. Refuses `invalid_json` with the reason in the hint. */
export function readJson(bytes: Buffer): unknown {
  const text = decode(bytes)
  if (isDeeper(bytes)) refuse('invalid_json', { hint: `Nest at most ${MAX_DEPTH} levels.` })
  const value = parse(text)
  // Only an escape can still contain U+0000 or half a surrogate pair, because the decoder refuses them elsewhere.
  if (text.includes('\\u') && !holdsFaithfulText(value))
    refuse('invalid_json', { hint: 'The body contains \\u0000 or half a surrogate pair, which cannot be stored.' })
  return value
}

function decode(bytes: Buffer): string {
  try {
    const text = utf8.decode(bytes)
    if (text.charCodeAt(0) !== 0xfeff) return text
  } catch {
    refuse('invalid_json', { hint: 'The body is not valid UTF-8.' })
  }
  return refuse('invalid_json', { hint: 'The body begins with a byte order mark.' })
}

function parse(text: string): unknown {
  try {
    return sjson.parse(text, undefined, { protoAction: 'error', constructorAction: 'error' })
  } catch (error) {
    return refuse('invalid_json', { hint: hintFor(text, error) })
  }
}

/** The parser's only own message. Any other message is the JavaScript engine's and quotes the body. */
const FORBIDDEN = 'Object contains forbidden prototype property'

function hintFor(text: string, error: unknown): string {
  if (text.trim() === '') return 'The body is empty. Send a JSON object; an empty one is {}.'
  const { message } = error as Error
  if (message === FORBIDDEN) return 'The body contains __proto__ or constructor.prototype, which is not allowed.'
  // The engine may cut its quotation inside a surrogate pair, and clients may refuse an answer with half of one.
  return `Send one JSON object. ${message.toWellFormed().replaceAll('\u0000', '\ufffd')}`
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

function isDeeper(bytes: Buffer): boolean {
  let depth = 0
  let quoted = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (quoted) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) quoted = false
    } else if (byte === QUOTE) quoted = true
    else if (byte === 0x7b || byte === 0x5b) {
      depth += 1
      if (depth > MAX_DEPTH) return true
    } else if (byte === 0x7d || byte === 0x5d) depth -= 1
  }
  return false
}

function holdsFaithfulText(value: unknown): boolean {
  if (typeof value === 'string') return isFaithful(value)
  if (Array.isArray(value)) return value.every(holdsFaithfulText)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, inner]) => isFaithful(key) && holdsFaithfulText(inner))
}

/** A header value as UTF-8 text, so that a nonce is the same in a header and in a body. Node decodes headers as Latin-1. Other bytes stay as they are. */
export function headerText(sent: string): string {
  const bytes = Buffer.from(sent, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : sent
}

/** Checks the size in the header and the encoding, before the body is read. */
export function prepareBody(request: FastifyRequest, limit = BODY_LIMIT): void {
  // The Content-Type is ignored. It would protect cookie requests, but the Origin rule already does.
  request.raw.headers['content-type'] = 'application/json'
  if (Number(request.headers['content-length'] ?? 0) > limit)
    refuse('payload_too_large', limit === BODY_LIMIT ? {} : { hint: 'Send at most 32 MiB.' })
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') refuse('unsupported_encoding')
}
