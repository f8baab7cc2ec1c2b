// Links into Telegram and the parameters that come back by them, in every form.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { newId, toWireId } from './ids.ts'
import { clickOfStart, faultOfApp, faultOfStart, LONGEST_START, telegramLink } from './telegram.ts'

describe('a start parameter', () => {
  const uuid = newId()
  const id = toWireId(uuid)
  test('names the click that it is, or that it ends with after - or _, in every form and case of an id', () => {
    for (const form of [id, id.toUpperCase(), uuid, uuid.replaceAll('-', '')])
      for (const own of ['', 'promo-', 'promo_', '-', '__', 'a-b-c_', `${id}-`, 'x'.repeat(480) + '-'])
        assert.equal(clickOfStart(own + form), uuid, own + form)
  })

  test('names no click if the id is in front, in the middle, or right after a letter', () => {
    for (const text of [
      '',
      '-',
      'promo',
      `promo${id}`,
      `${id}-promo`,
      `promo-${id}-x`,
      `promo.${id}`,
      `promo-${id.slice(1)}`,
    ])
      assert.equal(clickOfStart(text), undefined, text)
  })

  test('of a link may have a prefix of the owner’s, with the letters and the length that Telegram passes on', () => {
    for (const start of ['{click_id}', 'promo-{click_id}', '_{click_id}', `${'a'.repeat(37)}-{click_id}`])
      assert.equal(faultOfStart('bot', start), undefined, start)
    const long = `${'a'.repeat(485)}-{click_id}`
    assert.deepEqual([faultOfStart('mini_app', long), long.length], [undefined, LONGEST_START])
    assert.match(faultOfStart('mini_app', `a${long}`) ?? '', /at most 486 characters/)
    for (const [start, words] of [
      ['', /must end with \{click_id\}/],
      ['promo', /must end with/],
      ['{click_id}-promo', /must end with/],
      ['{sub1}-{click_id}', /may hold only A-Z/],
      ['{click_id}-{click_id}', /may hold only A-Z/],
      ['promo&{click_id}', /may hold only A-Z/],
      ['promó-{click_id}', /may hold only A-Z/],
      ['promo{click_id}', /must have - or _/],
      [`${'a'.repeat(38)}-{click_id}`, /at most 38 characters/],
    ] as const)
      assert.match(faultOfStart('bot', start) ?? '', words, start)
  })
})

test('the short name of a Mini App follows BotFather’s rules', () => {
  for (const app of ['app', 'Play_2', 'a'.repeat(30)]) assert.equal(faultOfApp(app), undefined, app)
  for (const app of ['', 'ab', 'a'.repeat(31), 'a b c', 'a/b/c', 'app?x', 'äpp'])
    assert.match(faultOfApp(app) ?? '', /3 to 30/)
})

test('links are as Telegram documents them, for people and for its apps', () => {
  const links = (place: Parameters<typeof telegramLink>[1]) => Object.values(telegramLink('Acme_bot', place))
  assert.deepEqual(links({ type: 'bot' }), [
    'https://t.me/Acme_bot?start={click_id}',
    'tg://resolve?domain=Acme_bot&start={click_id}',
  ])
  assert.deepEqual(links({ type: 'bot', start: 'promo-{click_id}', link_host: 'telegram.me', app: 'play' }), [
    'https://telegram.me/Acme_bot?start=promo-{click_id}',
    'tg://resolve?domain=Acme_bot&start=promo-{click_id}',
  ])
  assert.deepEqual(links({ type: 'mini_app' }), [
    'https://t.me/Acme_bot?startapp={click_id}',
    'tg://resolve?domain=Acme_bot&startapp={click_id}',
  ])
  assert.deepEqual(links({ type: 'mini_app', app: 'play', start: 'x_{click_id}' }), [
    'https://t.me/Acme_bot/play?startapp=x_{click_id}',
    'tg://resolve?domain=Acme_bot&appname=play&startapp=x_{click_id}',
  ])
})
