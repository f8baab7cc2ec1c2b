import assert from 'node:assert/strict'
import test from 'node:test'
import { googleEmail, normalEmail, phoneDigits, sha256 } from './hashing.ts'

test('an address is hashed in the form every platform matches by', () => {
  // Meta's published vector.
  const vector = '62a14e44f765419d10fea99367361a727c12365e2520f32218d505ed9aa0f62f'
  assert.equal(sha256(normalEmail('  John_Smith@Gmail.com ') ?? ''), vector)
  for (const none of ['', 'x', '@x.com', 'a@b', 'a b@c.de', 'a@b..c', null, 7, {}])
    assert.equal(normalEmail(none), null)
})

test('Google’s own addresses lose the dots it does not tell apart, others keep theirs', () => {
  assert.equal(googleEmail('J.o.Hn@GoogleMail.com'), 'john@googlemail.com')
  assert.equal(googleEmail('j.d@example.com'), 'j.d@example.com')
  assert.equal(googleEmail('nobody'), null)
})

test('a telephone number is its digits with the country first, and a national one is none', () => {
  for (const same of ['+49 151 / 234-567.89', '0049(0)15123456789', '4915123456789', 4915123456789])
    assert.equal(phoneDigits(same), '4915123456789')
  for (const none of ['0151 23456789', '+12', 'call me', '+49 151 2345678901234', '', null, {}])
    assert.equal(phoneDigits(none), null)
})
