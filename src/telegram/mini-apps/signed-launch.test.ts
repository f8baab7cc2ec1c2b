// The signature of a launch against another implementation, and every way it can be wrong.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isValid, sign } from '@telegram-apps/init-data-node'
import fc from 'fast-check'
import { anyCharacter } from '../../../tests/support/any-character.ts'
import { readInitData } from './signed-launch.ts'

const TOKEN = '123456:AAE-a-token'
const NOW = Date.UTC(2026, 10, 22, 12)
const SECOND = 1000
const HOUR = 3600 * SECOND

const signed = (fields: object = {}, { at = NOW, token = TOKEN } = {}): string =>
  sign(
    { user: { id: 77, first_name: 'Ada & Bo', language_code: 'de' }, query_id: 'AAE', ...fields } as never,
    token,
    new Date(at),
  )
const read = (text: string | Uint8Array, now = NOW) => readInitData(Buffer.from(text), now)
const launchOf = (text: string, now = NOW) => {
  const launch = read(text, now)
  return typeof launch === 'string' ? assert.fail(launch) : launch
}

describe('initData', () => {
  test('signed by Telegram’s library is accepted, with its person and parameter', () => {
    const launch = launchOf(signed({ start_param: 'promo-01h455vb4pex5vsknk084sn02q', signature: 'x'.repeat(86) }))
    assert.deepEqual(
      [launch.isSignedBy(TOKEN), launch.telegram_user_id, launch.start_param],
      [true, '77', 'promo-01h455vb4pex5vsknk084sn02q'],
    )
  })

  test('is judged as the library judges it, whatever fields it has and whatever is changed', () => {
    const name = fc.string({ unit: anyCharacter, maxLength: 30 }).map(text => text.toWellFormed())
    const change = fc.option(fc.record({ at: fc.nat(), to: fc.constantFrom('a', '0', '%', '&', '=', '+') }))
    fc.assert(
      fc.property(name, fc.string({ maxLength: 20 }), change, (first_name, start_param, changed) => {
        const text = signed({ user: { id: 5, first_name }, start_param })
        const at = changed === null ? 0 : changed.at % text.length
        const sent = changed === null ? text : text.slice(0, at) + changed.to + text.slice(at + 1)
        const launch = read(sent)
        const ours = typeof launch !== 'string' && launch.isSignedBy(TOKEN)
        assert.equal(ours, isValid(sent, TOKEN, { expiresIn: 0 }), sent)
      }),
      { numRuns: 500 },
    )
  })

  test('of another token, or with anything added, removed or swapped, is not signed', () => {
    const text = signed({ start_param: 'x' })
    assert.equal(launchOf(signed({}, { token: '123456:AAE-another' })).isSignedBy(TOKEN), false)
    for (const sent of [
      `${text}&extra=1`,
      text.replace('start_param=x', 'start_param=y'),
      text.replace('start_param=x&', ''),
      text.replace('%22id%22%3A77', '%22id%22%3A78'),
      `start_param=y&${text}`,
    ]) {
      assert.notEqual(sent, text)
      assert.equal(launchOf(sent).isSignedBy(TOKEN), false, sent)
    }
  })

  test('is accepted for 24 hours, and from a clock up to a minute ahead, to the second', () => {
    const text = signed()
    for (const now of [NOW, NOW + 24 * HOUR, NOW - 60 * SECOND]) assert.ok(launchOf(text, now).isSignedBy(TOKEN))
    assert.match(read(text, NOW + 24 * HOUR + SECOND) as string, /older than 24 hours/)
    assert.match(read(text, NOW - 61 * SECOND) as string, /in the future/)
  })

  test('that is malformed is recognized, and nothing throws', () => {
    for (const [body, words] of [
      [undefined, /a text of at most 8192 bytes/],
      [{ initData: signed() }, /a text of at most/],
      [Buffer.alloc(8193, 'a'), /a text of at most/],
      [Buffer.from([0xff, 0xfe]), /a text of at most/],
      [Buffer.from(''), /hash or auth_date is missing/],
      [Buffer.from('{"hash":"x"}'), /hash or auth_date is missing/],
      [Buffer.from(signed().replace(/hash=.{10}/, 'hash=')), /hash or auth_date is missing/],
      [Buffer.from(signed().replace(/auth_date=\d+/, 'auth_date=-5')), /hash or auth_date is missing/],
    ] as const)
      assert.match(readInitData(body, NOW) as string, words)
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), bytes => void readInitData(bytes, NOW)))
  })

  test('may name no person: no user, a bot, or an impossible id', () => {
    for (const user of [undefined, { id: 77, first_name: 'B', is_bot: true }, { id: 0, first_name: 'N' }]) {
      const launch = launchOf(signed({ user }))
      assert.deepEqual([launch.telegram_user_id, launch.isSignedBy(TOKEN)], [undefined, true])
    }
  })
})
