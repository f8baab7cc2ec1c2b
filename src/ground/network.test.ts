import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLoopbackAddress, networkOf } from './network.ts'

test('quotas count an IPv4 address alone, however it is written, and an IPv6 address by its /64', () => {
  for (const [address, network] of [
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:207', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['2001:db8::1:2:3:4', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['unknown', 'unknown'],
    ['', ''],
  ] as const)
    assert.equal(networkOf(address), network, address)
})

test('loopback is this machine alone', () => {
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '0:0:0:0:0:0:0:1'])
    assert.equal(isLoopbackAddress(address), true, address)
  for (const address of ['10.0.0.1', '0.0.0.0', '::', '::2', '128.0.0.1', 'localhost', '', '::ffff:10.0.0.1'])
    assert.equal(isLoopbackAddress(address), false, address)
})
