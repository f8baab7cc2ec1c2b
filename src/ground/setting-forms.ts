// The forms of settings that `config.ts` combines: how a variable is read, and which values are allowed.
import { accessSync, constants } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import * as z from 'zod'

/** The absolute path of a folder. */
export const folder = z.string().transform(path => resolve(path))

export const isUrl = (value: string, ...protocols: string[]): boolean => {
  const url = URL.parse(value)
  return url !== null && protocols.includes(url.protocol) && url.hostname !== ''
}

const isPlainOrigin = (value: string): boolean => {
  const url = URL.parse(value)
  return url !== null && url.href === `${url.origin}/` && isUrl(value, 'http:', 'https:')
}

export const isReadable = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

export const isNetwork = (value: string): boolean => {
  const [address = '', bits, ...rest] = value.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

export const commas = (value: string): string[] =>
  value
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')

/** A password may hold a comma, so only a comma before the next scheme separates two nodes. */
export const nodes = (value: string): string[] => value.split(/,\s*(?=postgres(?:ql)?:\/\/)/)

export const upTo = (most: number) =>
  z
    .string()
    .regex(/^\d{1,5}$/)
    .transform(Number)
    .refine(value => value <= most)
export const port = upTo(65_535)
export const origin = z
  .string()
  .refine(isPlainOrigin)
  .transform(value => new URL(value).origin)
export const http = z
  .string()
  .refine(value => isUrl(value, 'http:', 'https:'))
  .transform(value => value.replace(/\/+$/, ''))
export const money = z.string().regex(/^\d{1,7}(\.\d{1,6})?$/)
export const isHostName = (value: string): boolean =>
  isIP(value.replace(/^\[|\]$/g, '')) !== 0 || /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(value)
export const isPort = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= 65_535
/** `host:port` with the host as URLs spell it; undefined where a part is missing or wrong. */
export const hostWithPort = (value: string): string | undefined => {
  const [, host = '', at = ''] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(value) ?? []
  const hostname = isHostName(host) ? URL.parse(`http://${host}`)?.hostname : undefined
  return hostname !== undefined && isPort(Number(at)) ? `${hostname}:${Number(at)}` : undefined
}
export const isServer = (value: string): boolean => {
  if (isIP(value) !== 0) return true
  const [, address = '', at] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(value) ?? []
  return isIP(address.replace(/^\[|\]$/g, '')) !== 0 && (at === undefined || isPort(Number(at)))
}
export const isRedis = (value: string): boolean => isUrl(value, 'redis:', 'rediss:') || /^(unix:\/\/)?\/./.test(value)

export const RATE_SOURCES: readonly string[] = ['ecb', 'cbr']
export const isRateSource = (name: string): boolean => RATE_SOURCES.includes(name)

export const kept = z.union([
  z.literal('forever'),
  z
    .string()
    .regex(/^[1-9]\d{0,3}$/)
    .transform(Number),
])

export const trueOrFalse = z.stringbool({ truthy: ['true'], falsy: ['false'] })
