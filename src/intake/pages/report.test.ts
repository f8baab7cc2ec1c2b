import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Visit } from '../../ground/room.ts'
import { openGeo } from '../clicks/geo.ts'
import { asVisit } from './report.ts'

test("the country of a visitor whom a page server reports is that of their address, not what a proxy says of the server's", () => {
  const countryOf = openGeo({ geoipDbPath: undefined, geoipCountryHeader: 'cf-ipcountry', trustProxy: ['127.0.0.1'] })
  const visit: Visit = {
    method: 'POST',
    url: '/v/summer',
    params: {},
    headers: { 'cf-ipcountry': 'DE' },
    ip: '203.0.113.5',
    peer: '127.0.0.1',
    host: { is: 'main' },
    is_secure: true,
    body: undefined,
  }
  assert.equal(countryOf(asVisit(visit, '')), 'DE')
  assert.equal(countryOf(asVisit(visit, '', { address: '8.8.8.8' })), 'US')
  assert.equal(countryOf(asVisit(visit, '', { address: 'nonsense' })), 'DE')
})
