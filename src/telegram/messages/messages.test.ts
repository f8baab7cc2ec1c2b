// Messages are filled in for each recipient, and faults that Telegram would refuse are found first.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readHtml } from '../../contract/telegram-html.ts'
import { broadcastFault, channelsIn, type Message, messageFault } from '../../contract/telegram-message.ts'
import { type FakeBot, startTelegram, type TelegramFake } from '../../../tests/support/telegram-fake/telegram-fake.ts'
import { type MessageDelivery, optOutCallback, sendMessage } from './messages.ts'

const CHANNEL = '01890000-0000-7000-8000-000000000001'

describe('a message that is sent', () => {
  let telegram: TelegramFake
  let bot: FakeBot
  before(async () => {
    telegram = await startTelegram()
    bot = telegram.bot()
  })
  after(() => telegram.close())

  /** The call that a message to a person causes. */
  async function sent(message: Message, about: Omit<MessageDelivery, 'chat_id'> = { values: {} }) {
    const person = telegram.person()
    person.start(bot)
    const answer = await sendMessage(telegram.origin, bot.token, message, { chat_id: person.id, ...about })
    assert.equal(answer.ok, true, JSON.stringify(answer))
    const { method, params } = telegram.messages.at(-1) ?? {}
    return { method, params: params as Record<string, unknown> }
  }

  test('fills its macros with the recipient’s values: escaped in the text, encoded in URLs', async () => {
    const { method, params } = await sent(
      {
        text: 'Hi <b>{first_name|friend}</b> & {sub1}',
        buttons: [[{ text: 'Go', url: 'https://offer.example/?c={click_id}&s={sub1}' }]],
      },
      { values: { first_name: '<Ann>', sub1: 'a&b c', click_id: 'c1' } },
    )
    assert.equal(method, 'sendMessage')
    assert.equal(params['text'], 'Hi <b>&lt;Ann&gt;</b> & a&amp;b c')
    assert.equal(params['parse_mode'], 'HTML')
    assert.deepEqual(params['reply_markup'], {
      inline_keyboard: [[{ text: 'Go', url: 'https://offer.example/?c=c1&s=a%26b%20c' }]],
    })
  })

  test('uses the fallback for an unknown name, and leaves a plain text unchanged', async () => {
    assert.equal((await sent({ text: '{first_name|friend}' })).params['text'], 'friend')
    const { params } = await sent(
      { text: '<b> {first_name|friend}', format: 'plain' },
      { values: { first_name: '<A>' } },
    )
    assert.deepEqual([params['text'], params['parse_mode']], ['<b> <A>', undefined])
  })

  test('gets an unsubscribe button if it has none', async () => {
    const opt_out = optOutCallback(CHANNEL)
    assert.ok(Buffer.byteLength(opt_out) <= 64)
    const added = await sent({ text: 'News' }, { values: {}, opt_out })
    assert.deepEqual(added.params['reply_markup'], {
      inline_keyboard: [[{ text: 'Unsubscribe', callback_data: opt_out }]],
    })
    const own = await sent({ text: 'News', buttons: [[{ text: 'Enough', opt_out: true }]] }, { values: {}, opt_out })
    assert.deepEqual(own.params['reply_markup'], { inline_keyboard: [[{ text: 'Enough', callback_data: opt_out }]] })
  })

  test('uses the given links for channel buttons, and leaves out buttons without a link', async () => {
    const message: Message = { text: 'Join', buttons: [[{ text: 'Join', channel_id: CHANNEL }]] }
    assert.deepEqual(channelsIn(message), [CHANNEL])
    const led = await sent(message, { values: {}, links: new Map([[CHANNEL, 'https://t.me/+abc']]) })
    assert.deepEqual(led.params['reply_markup'], { inline_keyboard: [[{ text: 'Join', url: 'https://t.me/+abc' }]] })
    assert.equal((await sent(message)).params['reply_markup'], undefined)
  })

  test('sends chat ids as numbers', async () => {
    const [ann, from] = [telegram.person(), telegram.person()]
    ann.start(bot)
    from.start(bot)
    const send = async (message: Message, chat_id: string) => {
      const answer = await sendMessage(telegram.origin, bot.token, message, { chat_id, values: {} })
      return answer.ok ? telegram.calls.at(-1)?.params : answer.description
    }
    const params = (await send({ text: 'Hello' }, String(ann.id))) as Record<string, unknown>
    assert.equal(params['chat_id'], ann.id)
    assert.equal(await send({ text: 'Hello' }, '@nobody'), 'Bad Request: chat not found')
    assert.equal(telegram.calls.at(-1)?.params['chat_id'], '@nobody')
    await send({ copy: { chat_id: String(from.id), message_id: 1 } }, '99999999999999999999')
    const { chat_id, from_chat_id } = telegram.calls.at(-1)?.params ?? {}
    assert.deepEqual([chat_id, from_chat_id], ['99999999999999999999', from.id])
  })

  test('is a photo, a video, an animation or a document with a caption, silent and protected if set so', async () => {
    for (const [kind, method] of [
      ['photo', 'sendPhoto'],
      ['video', 'sendVideo'],
      ['animation', 'sendAnimation'],
      ['document', 'sendDocument'],
    ] as const) {
      const message = {
        [kind]: 'https://files.example/1',
        caption: 'Look',
        silent: true,
        protect: true,
      } as unknown as Message
      const made = await sent(message, { values: {}, is_test: true, paid: true })
      assert.equal(made.method, method)
      assert.equal(made.params[kind], 'https://files.example/1')
      assert.equal(made.params['caption'], '[Test] Look')
      assert.equal(made.params['disable_notification'], true)
      assert.equal(made.params['protect_content'], true)
      assert.equal(made.params['allow_paid_broadcast'], true)
    }
  })
})

describe('a message that Telegram would refuse', () => {
  const faults: [string, Message, RegExp][] = [
    ['is empty', { text: '  ' }, /empty/],
    ['is too long for what it shows', { text: `<b>${'x'.repeat(4097)}</b>` }, /shows 4097/],
    [
      'has a caption that is too long',
      { photo: 'https://a.example/1', caption: 'x'.repeat(1025) },
      /caption shows 1025/,
    ],
    ['does not close a tag', { text: '<b>x' }, /<b> is not closed/],
    ['closes tags in another order', { text: '<b><i>x</b></i>' }, /<\/i> must come before <\/b>/],
    ['has a tag that Telegram does not know', { text: '<div>x</div>' }, /has no tag <div>/],
    ['has a bare <', { text: '1 < 2' }, /&lt;/],
    ['names a macro that is none', { text: '{nope}' }, /no macro \{nope\}/],
    ['names its recipient without saying what else', { text: '{first_name}' }, /first_name\|friend/],
    ['shows a photo by http', { photo: 'http://a.example/1' }, /https address/],
    [
      'has a button that leads nowhere',
      { text: 'x', buttons: [[{ text: 'Go', url: 'javascript:alert(1)' }]] },
      /"Go" must lead/,
    ],
    [
      'fills the host of a button',
      { text: 'x', buttons: [[{ text: 'Go', url: 'https://{sub1}/' }]] },
      /"Go" must lead/,
    ],
    [
      'names nobody in an address',
      { text: 'x', buttons: [[{ text: 'Go', url: 'https://a.example/{first_name|x}' }]] },
      /no macro/,
    ],
    [
      'unsubscribes twice',
      {
        text: 'x',
        buttons: [
          [
            { text: 'A', opt_out: true },
            { text: 'B', opt_out: true },
          ],
        ],
      },
      /is enough/,
    ],
  ]
  for (const [what, message, said] of faults) test(what, () => assert.match(messageFault(message) ?? 'no fault', said))

  test('a message at every limit has no fault', () => {
    assert.equal(messageFault({ text: `<b>${'&amp;'.repeat(4096)}</b>` }), undefined)
    assert.equal(
      messageFault({ text: '{smile', buttons: [[{ text: 'Go', url: 'tg://resolve?domain={sub1}' }]] }),
      undefined,
    )
    assert.equal(messageFault({ text: '<b> {', format: 'plain' }), undefined)
    assert.equal(messageFault({ photo: 'AgACAgIAAxkBAAIB' }), undefined)
  })
})

test('a message that gets an unsubscribe button has at most sixty-three other buttons', () => {
  const row = Array.from({ length: 8 }, () => ({ text: 'Go', url: 'https://o.example/' }))
  const full = Array.from({ length: 8 }, () => row)
  assert.match(broadcastFault({ text: 'Hello', buttons: full }) ?? '', /65 buttons/)
  assert.equal(messageFault({ text: 'Hello', buttons: full }), undefined)
  assert.equal(broadcastFault({ text: 'Hello', buttons: [row.slice(1), ...full.slice(1)] }), undefined)
  const own = [[...row.slice(1), { text: 'Enough', opt_out: true as const }], ...full.slice(1)]
  assert.equal(broadcastFault({ text: 'Hello', buttons: own }), undefined)
})

test('HTML is parsed as Telegram parses it', () => {
  assert.deepEqual(readHtml('a<strong>b<a href="https://x.example/?a=1&amp;b=2">c</a></strong>&lt;&#33;'), {
    length: 5,
    pieces: ['a', { tag: 'b', inside: ['b', { tag: 'a', href: 'https://x.example/?a=1&b=2', inside: ['c'] }] }, '<!'],
  })
})
