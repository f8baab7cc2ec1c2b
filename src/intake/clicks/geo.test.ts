import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openGeo } from './geo.ts'

const off = { geoipDbPath: undefined, geoipCountryHeader: undefined, trustProxy: [] }
const at = (ip: string, headers: Record<string, string> = {}, peer = ip) => ({ ip, peer, headers })

test('the bundled file knows public addresses of both families, and no private one', () => {
  const countryOf = openGeo(off)
  assert.equal(countryOf(at('8.8.8.8')), 'US')
  assert.equal(countryOf(at('8.8.8.8')), 'US')
  assert.equal(countryOf(at('::ffff:8.8.8.8')), 'US')
  assert.match(countryOf(at('2001:4860:4860::8888')) ?? '', /^[A-Z]{2}$/)
  for (const ip of [
    '127.0.0.1',
    '10.1.2.3',
    '192.168.0.1',
    '100.64.0.1',
    '169.254.1.1',
    '::1',
    'fe80::1%eth0',
    'fd00::1',
    '',
    'nonsense',
  ])
    assert.equal(countryOf(at(ip)), null, ip)
})

test("a proxy's country header counts only when the peer is a trusted proxy", () => {
  const countryOf = openGeo({ ...off, geoipCountryHeader: 'cf-ipcountry', trustProxy: ['10.0.0.0/8', '::1'] })
  const headers = { 'cf-ipcountry': 'br' }
  assert.equal(countryOf(at('8.8.8.8', headers, '10.9.9.9')), 'BR')
  assert.equal(countryOf(at('8.8.8.8', headers, '::ffff:10.9.9.9')), 'BR')
  assert.equal(countryOf(at('8.8.8.8', headers, '::1')), 'BR')
  assert.equal(countryOf(at('8.8.8.8', headers, '11.0.0.1')), 'US')
  assert.equal(countryOf(at('8.8.8.8', headers)), 'US')
})

test('a proxy that does not know the country leaves it to the file', () => {
  const countryOf = openGeo({ ...off, geoipCountryHeader: 'cf-ipcountry', trustProxy: ['10.0.0.0/8'] })
  for (const said of ['XX', 'ZZ', 'T1', '', 'Germany'])
    assert.equal(countryOf(at('8.8.8.8', { 'cf-ipcountry': said }, '10.0.0.1')), 'US', said)
})

test('a file that is no country database stops the start in one line', () => {
  const path = join(tmpdir(), `sluice-geo-${process.pid}.mmdb`)
  writeFileSync(path, 'not a database')
  try {
    assert.throws(() => openGeo({ ...off, geoipDbPath: path }), {
      name: 'Error',
      message: /GEOIP_DB_PATH .* is not an \.mmdb database/,
    })
  } finally {
    rmSync(path)
  }
})
