import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeAuthority } from '../../../tests/support/certificates.ts'
import { requireIssued, requireMatchingKey, WrongChain } from './chain.ts'

const authority = await makeAuthority()
const other = await makeAuthority()
const given = await authority.issue({ names: ['a.test', '*.b.test'] })
const now = Date.now()

const refusal = (chain: string, key = given.key, name = 'a.test'): string => {
  try {
    requireIssued(chain, key, name, now)
  } catch (error) {
    assert.ok(error instanceof WrongChain, String(error))
    return error.message
  }
  return assert.fail('nothing was refused')
}

test('a chain is served for the names it is for, with its own key', () => {
  const { serial, not_after } = requireIssued(given.chain, given.key, 'a.test', now)
  assert.match(serial, /^[0-9A-F]+$/)
  assert.ok(not_after > now)
  assert.equal(requireIssued(given.chain, given.key, 'x.b.test', now).serial, serial)
})

test('anything else is refused, in words', async () => {
  const [leaf = '', rest = ''] = given.chain.split(/(?<=END CERTIFICATE-----\n)/)
  const ended = await authority.issue({ names: ['a.test'], not_before: now - 10_000_000, not_after: now - 1000 })
  const cases: [string, RegExp][] = [
    [refusal(given.chain, given.key, 'c.test'), /not for c\.test/],
    [refusal(given.chain, given.key, 'x.y.b.test'), /not for x\.y\.b\.test/],
    [refusal(given.chain, (await authority.issue({ names: ['a.test'] })).key), /another certificate/],
    [refusal(given.chain, 'no key'), /cannot be read/],
    [refusal(leaf), /intermediate certificate is missing/],
    [refusal(leaf + other.intermediate), /not signed by each other/],
    [refusal(rest + leaf), /another certificate/],
    [refusal(ended.chain, ended.key), /has expired/],
    [refusal(''), /no certificate/],
    [refusal('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'), /cannot be read/],
  ]
  for (const [said, words] of cases) assert.match(said, words)
})

test('a certificate of files may stand alone', () => {
  const [leaf = ''] = given.chain.split(/(?<=END CERTIFICATE-----\n)/)
  assert.equal(requireMatchingKey(leaf, given.key).certificate.checkHost('z.b.test'), '*.b.test')
})
