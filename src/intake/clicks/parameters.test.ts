import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../../tests/support/any-character.ts'
import { cut } from '../../contract/texts.ts'
import { type Parameters, parameterReader, platformOf } from './parameters.ts'

const read = parameterReader({})
const sent = (query: string, reader = read): Partial<Parameters> =>
  Object.fromEntries(Object.entries(reader(`/c/key?${query}`)).filter(([, value]) => value !== null))

test('the source id, sub1 to sub9 and the ad click ids are read from the query, decoded', () => {
  assert.deepEqual(sent('ref_id=abc&sub1=a+b%20c&sub9=%C3%BC&sub10=x&fbclid=IwAR0_x-1.~&foo=bar'), {
    ref_id: 'abc',
    sub1: 'a b c',
    sub9: 'ü',
    fbclid: 'IwAR0_x-1.~',
  })
  assert.deepEqual(sent('gclid=Cj0&gbraid=0AA&wbraid=Clk&ttclid=E.C.P'), {
    gclid: 'Cj0',
    gbraid: '0AA',
    wbraid: 'Clk',
    ttclid: 'E.C.P',
  })
  assert.deepEqual(Object.values(read('/c/key')).filter(Boolean), [])
})

test('a macro that the source did not replace is stored as null', () => {
  for (const value of [
    '{gclid}',
    '{{ad.id}}',
    '__CLICKID__',
    '${SUBID}',
    '[CLICK_ID]',
    '##CLICK_ID##',
    '%23%23SUB_ID_SHORT(action)%23%23',
    '%23%23%23AFFID%23%23%23',
    '%23SOURCE%23',
    '@@CLICK-ID@@',
    '[[subid]]',
    '[%2BSID%2B]',
    '[:_jv_apid:]',
    '%25{app_id}',
    '$$x$$',
    '{$x}',
    '%AFFID%',
    '%campaign_id%',
    '%25campaign_id%25',
    '(S_CLICK_ID)',
    '-source-',
    'JT_KEYWORD',
    'TAPGAGE_VAR_CLICKID',
    'startapp_click_id_placeholder',
    'campaign_id',
    'null',
    'undefined',
    '',
    '%7Bgclid%7D',
    '%24%7BSUBID%7D',
    '{{campaign.name}}-{{ad.name}}',
  ])
    assert.deepEqual(sent(`sub1=${value}&fbclid=${value}&ref_id=${value}`), {}, value)
  assert.deepEqual(sent('sub1=(direct)&sub2=-x-'), { sub1: '(direct)', sub2: '-x-' })
  assert.deepEqual(sent('sub1=%C3%A4&sub2=%41%&sub3=jt_video&sub4=100%'), {
    sub1: 'ä',
    sub2: 'A%',
    sub3: 'jt_video',
    sub4: '100%',
  })
  assert.deepEqual(sent('sub1=a{b}&sub2=nullable&sub3=_x_'), { sub1: 'a{b}', sub2: 'nullable', sub3: '_x_' })
})

test('with a source its own macro is unfilled in its own field, and half a click id is none', () => {
  const macros = new Map([
    ['ref_id', '(CLICK)'],
    ['sub1', 'placeholder_zone'],
    ['sub2', '%CAMPAIGN%'],
  ])
  const reader = parameterReader({ ref_id: 'visitor' }, { macros })
  for (const write of [(macro: string) => macro, encodeURIComponent])
    assert.deepEqual(
      sent(`visitor=${write('(CLICK)')}&sub1=${write('placeholder_zone')}&sub2=${write('%CAMPAIGN%')}`, reader),
      {},
    )
  assert.deepEqual(sent('sub3=(CLICK)&ref_id=7', reader), { sub3: '(CLICK)', ref_id: '7' })
  assert.deepEqual(sent(`visitor=${'a'.repeat(501)}&sub1=${'a'.repeat(501)}`, reader), { sub1: 'a'.repeat(500) })
})

test('the first usable value of a repeated parameter counts', () => {
  assert.deepEqual(sent('gclid={gclid}&sub1=&gclid=real&sub1=x&sub1=y'), { gclid: 'real', sub1: 'x' })
})

test('a source fills fields from names of its own, behind our own names', () => {
  const reader = parameterReader({ ref_id: 'clickid', sub1: 'utm_campaign', sub2: 'utm_campaign', sub3: 'fbclid' })
  assert.deepEqual(sent('clickid=77&utm_campaign=spring&fbclid=Iw', reader), {
    ref_id: '77',
    sub1: 'spring',
    sub2: 'spring',
    sub3: 'Iw',
    fbclid: 'Iw',
  })
  assert.deepEqual(sent('clickid=77&ref_id=88&sub1={x}&utm_campaign=spring', reader), {
    ref_id: '88',
    sub1: 'spring',
    sub2: 'spring',
  })
})

test('free texts are cut at 500 bytes between two characters', () => {
  assert.equal(sent(`sub1=${'a'.repeat(600)}`).sub1, 'a'.repeat(500))
  assert.equal(sent(`sub1=${encodeURIComponent('ü'.repeat(300))}`).sub1, 'ü'.repeat(250))
  assert.equal(sent(`sub1=a${encodeURIComponent('😀'.repeat(200))}`).sub1, `a${'😀'.repeat(124)}`)
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), fc.integer({ min: 0, max: 40 }), (text, bytes) => {
      const kept = cut(text, bytes)
      assert.ok(text.startsWith(kept))
      assert.ok(Buffer.byteLength(kept) <= bytes)
      const next = String.fromCodePoint(...[text.codePointAt(kept.length)].filter(point => point !== undefined))
      assert.ok(next === '' || Buffer.byteLength(kept + next) > bytes)
    }),
  )
})

test('ad click ids are kept byte for byte up to 512, and not at all when longer or of other characters', () => {
  assert.equal(sent(`fbclid=${'Aa'.repeat(256)}`).fbclid, 'Aa'.repeat(256))
  assert.deepEqual(sent(`fbclid=${'a'.repeat(513)}`), {})
  assert.deepEqual(sent('fbclid=a%20b&gclid=caf%C3%A9&ttclid=%00'), {})
  assert.equal(sent('fbclid=IwAR%2Babc%2F%3D').fbclid, 'IwAR+abc/=')
})

test('addresses that were pasted together lose nothing', () => {
  assert.deepEqual(sent('sub1=x&?sub2=y&amp;sub3=z'), { sub1: 'x', sub2: 'y', sub3: 'z' })
  assert.deepEqual(sent('sub1=x?fbclid=Iw&sub2=what?'), { sub1: 'x', fbclid: 'Iw', sub2: 'what?' })
  assert.deepEqual(sent('sub1=x#sub2=y'), { sub1: 'x' })
  assert.deepEqual(sent('sub1=a?b=c?d?sub2=e&sub3=f?=?sub4=g'), { sub1: 'a?b=c?d', sub2: 'e', sub3: 'f?=', sub4: 'g' })
})

test('names in a value are looked up once for each equals sign, however many question marks it holds', t => {
  const has = t.mock.method(Map.prototype, 'has')
  assert.equal(sent(`sub1=${'?'.repeat(14_000)}&sub2=${'?'.repeat(1000)}=x`).sub1, '?'.repeat(500))
  assert.ok(has.mock.callCount() < 50, String(has.mock.callCount()))
})

test('what cannot be decoded or stored is kept as far as it can be', () => {
  assert.deepEqual(sent('sub1=100%&sub2=%E4x&sub3=a%00b&sub4=%zz&sub5=%ED%A0%80'), {
    sub1: '100%',
    sub2: '\ufffdx',
    sub3: 'ab',
    sub4: '%zz',
    sub5: '\ufffd\ufffd\ufffd',
  })
  // Node gives raw UTF-8 bytes of a request line as single characters.
  assert.deepEqual(sent(`sub1=${Buffer.from('grün').toString('latin1')}`), { sub1: 'grün' })
})

test('no query can throw or yield text that PostgreSQL refuses', () => {
  const reader = parameterReader({ sub2: 'a' })
  const piece = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('%', '%0', '%00', '&', '=', '?', 'sub1=', 'a=', '%D8%00', '\ud800'),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), pieces => {
      for (const value of Object.values(reader(`/c/k?${pieces.join('')}`))) {
        if (value === null) continue
        assert.ok(value.isWellFormed() && !value.includes('\0'))
        assert.ok(value !== '' && Buffer.byteLength(value) <= 512)
      }
    }),
    { numRuns: 2000 },
  )
})

test('the ad platform is known by its click id', () => {
  assert.equal(platformOf(read('/?fbclid=a')), 'meta')
  for (const name of ['gclid', 'gbraid', 'wbraid']) assert.equal(platformOf(read(`/?${name}=a`)), 'google')
  assert.equal(platformOf(read('/?ttclid=a')), 'tiktok')
  assert.equal(platformOf(read('/?sub1=a')), null)
})
