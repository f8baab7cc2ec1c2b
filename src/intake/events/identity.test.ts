import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newId, toUuid, toWireId } from '../../contract/ids.ts'
import { eventId, inChatId, onceId, ownNonce, startId } from './identity.ts'
import { telegramUserId } from './person.ts'

describe('the identity of an event', () => {
  const click = '01890a5d-ac96-774b-bcce-b302099a8057'
  const join = { type: 'channel_join', chat_id: -1001, telegram_user_id: '123' } as const

  test('is the same for ever: this vector may never change', () => {
    assert.equal(eventId(click, 'lead', 'order-1'), '343a4c22-36f1-8987-b88e-6683c9c2e2ca')
    assert.equal(startId(7, click, '123'), 'a33037c3-db9d-8ac5-b3c8-95e48f5f60df')
    assert.equal(onceId(7, join), 'd5093629-79f4-81d5-aca2-138eb098b473')
    assert.equal(inChatId(click, join), eventId(click, 'channel_join', ownNonce('-1001 123')))
  })

  test('is a UUIDv8', () => {
    for (let times = 0; times < 100; times += 1)
      assert.match(
        eventId(newId(), 'lead', undefined),
        /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      )
  })

  test('takes a click in every spelling for one click', () => {
    const spellings = [
      click,
      click.toUpperCase(),
      toWireId(click),
      toWireId(click).toUpperCase(),
      click.replaceAll('-', ''),
    ]
    assert.equal(new Set(spellings.map(text => eventId(toUuid(text) ?? '', 'lead', 'n'))).size, 1)
  })

  test('keeps look-alike nonces, types and clicks apart', () => {
    const ids = [
      ...['', 'a', 'A', ' a', 'a ', 'é', 'e\u0301', '\u0000', '\u0000a', '"', ','].map(nonce =>
        eventId(click, 'lead', nonce),
      ),
      eventId(click, 'deposit', 'a'),
      eventId(click, 'ftd', ''),
      eventId(newId(), 'lead', 'a'),
      startId(7, click, 'a'),
      startId(7, click, 'b'),
      startId(8, click, 'a'),
    ]
    assert.equal(new Set(ids).size, ids.length)
  })

  test('without a nonce is that of the empty nonce', () => {
    assert.equal(eventId(click, 'lead', undefined), eventId(click, 'lead', ''))
  })

  test('of our own producers never meets a sender, who may not send U+0000', () => {
    assert.notEqual(eventId(click, 'purchase', ownNonce('1')), eventId(click, 'purchase', '1'))
    assert.ok(ownNonce('').includes('\u0000'))
  })
})

describe('a Telegram user id', () => {
  test('has one form for one person', () => {
    const forms: unknown[] = [123, '123', 123.0, '0123', '000123']
    assert.deepEqual([...new Set(forms.map(telegramUserId))], ['123'])
    assert.equal(telegramUserId('0'), '0')
    assert.equal(telegramUserId('000'), '0')
    assert.equal(telegramUserId(Number.MAX_SAFE_INTEGER), '9007199254740991')
    assert.equal(telegramUserId('9007199254740993'), '9007199254740993')
  })

  test('that is other text stays as it is', () => {
    for (const text of ['user-7', ' 123', '123.0', '-5', '1e3', 'Ж', '😀'.repeat(128)])
      assert.equal(telegramUserId(text), text)
  })

  test('is absent when it is missing, null or empty', () => {
    for (const sent of [undefined, null, '']) assert.equal(telegramUserId(sent), undefined)
  })

  test('is refused when it could be two people or none', () => {
    const wrong: unknown[] = [
      2 ** 53,
      -(2 ** 53),
      1.5,
      Number.NaN,
      true,
      false,
      {},
      [],
      [1],
      'x'.repeat(129),
      '1'.repeat(129),
      'a\u0000',
      '\ud800',
    ]
    for (const sent of wrong) assert.throws(() => telegramUserId(sent), { refusal: 'invalid_request' }, String(sent))
  })
})
