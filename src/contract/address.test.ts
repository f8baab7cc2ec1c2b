import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultOfAddress } from './address.ts'

test('an ambiguous address is refused', () => {
  const refused = [
    'https://{sub1}/x',
    'https://{sub1}.example.com/',
    'https://example.com{sub1}/',
    'https://example.com:{sub1}/',
    '{sub1}://example.com/',
    'https:{sub1}',
    'https://user@example.com/',
    'https://user:pass@example.com/',
    'https://example.com@127.0.0.1/',
    'https://:@example.com/',
    'https://example.com\\@127.0.0.1/',
    'https:\\\\127.0.0.1/',
    'https:/\\127.0.0.1',
    'https://exa\tmple.com/',
    'https://exam\nple.com/',
    'https://example.com/\r\nX-Injected: 1',
    'https://a\u0000b/',
    'https://example.com/\ud800',
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'gopher://127.0.0.1/',
    'data:,x',
    'example.com',
    '//example.com/',
    '',
    'https://',
    'https:///x',
    'https:127.0.0.1',
    'http:/127.0.0.1/',
    'https://exa mple.com/',
    'https://example.com:99999/',
    'https://[::1/',
  ]
  for (const text of refused) assert.notEqual(faultOfAddress(text), undefined, JSON.stringify(text))
})

test('http and https addresses with macros after the host are accepted', () => {
  const taken = [
    'https://example.com',
    'http://example.com/p?c={click_id}',
    'https://example.com:8443/{sub1}/x#y',
    'https://пример.рф/?a={sub2}',
    'HTTPS://EXAMPLE.COM/?q=a@b',
    'https://example.com?x={sub1}',
    'https://example.com/?next=https://other.example/%20{unknown}',
  ]
  for (const text of taken) assert.equal(faultOfAddress(text), undefined, text)
})
