import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../../tests/support/any-character.ts'
import { MACROS } from '../../contract/address.ts'
import { compileTemplate, type MacroValues } from './macros.ts'

const EMPTY = Object.fromEntries(MACROS.map(name => [name, null])) as MacroValues
const fill = (address: string, values: Partial<MacroValues> = {}): string | undefined =>
  compileTemplate(address)?.fill({ ...EMPTY, ...values })

test('known macros are filled in, percent-encoded; missing ones are empty, unknown ones removed', () => {
  const values = { click_id: '01abc', sub1: 'a b&c=ü/?#', geo: null }
  assert.equal(
    fill('https://a.example/{geo}/x?c={click_id}&s={sub1}&n={network}&e={sub2}#{click_id}', values),
    'https://a.example//x?c=01abc&s=a%20b%26c%3D%C3%BC%2F%3F%23&n=&e=#01abc',
  )
})

test('every macro of the list fills in', () => {
  const values = Object.fromEntries(MACROS.map(name => [name, `v-${name}`])) as MacroValues
  assert.equal(
    fill(`https://a.example/${MACROS.map(name => `{${name}}`).join('/')}`, values),
    `https://a.example/${MACROS.map(name => `v-${name}`).join('/')}`,
  )
})

test('macros are understood in any case, with doubled and with percent-encoded braces', () => {
  assert.equal(
    fill('https://a.example/?c={CLICK_ID}&d=%7Bclick_id%7D&e={{click_id}}&f={x.y}', { click_id: '1' }),
    'https://a.example/?c=1&d=1&e=1&f=',
  )
})

test('braces that hold no macro stay', () => {
  assert.equal(fill('https://a.example/?q={"a":1}&r={}'), 'https://a.example/?q={"a":1}&r={}')
})

test('a value never reaches scheme, host or port', () => {
  for (const address of [
    'https://{sub1}/',
    'https://{sub1}.example/',
    'https://a.example:{sub1}/',
    '{sub1}://a.example',
    'https://a@b.example/',
    'javascript:alert(1)',
    '//a.example',
    'ftp://a.example',
    'https:///x',
    'https://a.example\\@b/',
    '',
  ])
    assert.equal(compileTemplate(address), undefined, address)
  assert.equal(
    fill('https://a.example/{sub1}', { sub1: '/../@b.example:1/' }),
    'https://a.example/%2F..%2F%40b.example%3A1%2F',
  )
})

test('the result is ASCII without spaces or line breaks, fit for a header', () => {
  assert.equal(fill(' https://grün.example/ä ö?q=ü '), 'https://xn--grn-ioa.example/%C3%A4%20%C3%B6?q=%C3%BC')
  assert.equal(fill('https://a.example:8443/x'), 'https://a.example:8443/x')
  assert.equal(fill('http://[::1]:8080/x'), 'http://[::1]:8080/x')
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), (rest, sub1) => {
      const filled = fill(`https://a.example/${rest}{sub1}`, { sub1 })
      assert.match(filled ?? '', /^https:\/\/a\.example\/[\x21-\x7e]*$/)
      assert.equal(new URL(filled ?? '').host, 'a.example')
    }),
    { numRuns: 1000 },
  )
})
