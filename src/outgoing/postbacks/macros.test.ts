import assert from 'node:assert/strict'
import { test } from 'node:test'
import { POSTBACK_MACROS } from './api.ts'
import { fillMacros, type PostbackMacroValues } from './macros.ts'

/** The value of every macro. */
const values = (value: string | null) =>
  Object.fromEntries(POSTBACK_MACROS.map(name => [name, value])) as Record<
    (typeof POSTBACK_MACROS)[number],
    string | null
  > satisfies PostbackMacroValues

test('every macro is filled in percent-encoded, missing and unknown ones leave nothing', () => {
  const all = POSTBACK_MACROS.map(name => `{${name}}`).join('')
  assert.equal(
    fillMacros(`https://example.com/?${all}`, values('1')),
    `https://example.com/?${'1'.repeat(POSTBACK_MACROS.length)}`,
  )
  assert.equal(fillMacros(`https://example.com/?a={sub1}&b={geo}`, values(null)), 'https://example.com/?a=&b=')
  assert.equal(
    fillMacros('https://example.com/?a={payout}&b={}&c={toString}', values('1')),
    'https://example.com/?a=&b=&c=',
  )
  assert.equal(
    fillMacros('https://example.com/?a={sub1}', values("x y&z'é+%")),
    'https://example.com/?a=x%20y%26z%27%C3%A9%2B%25',
  )
})

test('macros are understood as in tracking links: in any case, with doubled and with percent-encoded braces', () => {
  assert.equal(
    fillMacros(
      'https://example.com/%7Bsub1%7D?a={CLICK_ID}&b={{sub1}}&c=%7Bclick_id%7d&d={{payout}}&e=%7Bno%7D',
      values('1'),
    ),
    'https://example.com/1?a=1&b=1&c=1&d=&e=',
  )
  assert.equal(fillMacros('https://example.com/%7bsub1%7d', values('..')), 'https://example.com/')
})

test('a value that looks like a macro is a value', () => {
  assert.equal(
    fillMacros('https://example.com/?a={sub1}', values('{click_id}')),
    'https://example.com/?a=%7Bclick_id%7D',
  )
})

test('what a visitor puts into a macro never changes where the call goes', () => {
  const hostile = [
    '@127.0.0.1/',
    '//127.0.0.1',
    '\\\\127.0.0.1',
    '#',
    '?',
    '/../..',
    '..',
    '%00',
    '\r\nHost: x',
    '://',
    'ａ',
    '💥',
    "'(!*)",
  ]
  const templates = ['https://example.com/{sub1}', 'https://example.com?{sub1}', 'https://example.com#{sub1}']
  for (const template of templates)
    for (const value of hostile)
      assert.equal(new URL(fillMacros(template, values(value)) ?? '').origin, 'https://example.com', value)
})

test('a value of dots takes no step in the path, and stays what it is behind it', () => {
  for (const dots of ['.', '..'])
    assert.equal(
      fillMacros('https://example.com/key/{sub1}/postback?a={sub2}', values(dots)),
      `https://example.com/key//postback?a=${dots}`,
    )
  const called = fillMacros('https://example.com/{sub1}/b', values('v1.2..3'))
  assert.equal(called, 'https://example.com/v1.2..3/b')
})

test('an address that its macros could lead elsewhere is not called', () => {
  const templates = [
    'https://{sub1}/',
    'https://{sub1}.example.com/',
    'https://example.com:{sub1}/',
    'https://{sub1}@example.com/',
    'https://example.com{sub1}/',
  ]
  for (const template of templates) assert.equal(fillMacros(template, values('8080')), undefined, template)
})
