import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAgentName } from '../../traffic/click-flows/agent-names.ts'
import { agentOf, isAhead, isTracked } from './agent.ts'

const PHONE =
  'Mozilla/5.0 (Linux; Android 13; SM-S908B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/112.0.0.0 Mobile Safari/537.36'
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 16_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148'

test('people are told by device, system and browser, in apps as well', () => {
  const cases: [string, string, string, string][] = [
    [PHONE, 'mobile', 'Android', 'Chrome'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.0.0 Safari/537.36 Edg/114',
      'desktop',
      'Windows',
      'Edge',
    ],
    [
      'Mozilla/5.0 (iPad; CPU OS 14_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/14.1 Mobile/15E148 Safari/604.1',
      'tablet',
      'iOS',
      'Mobile Safari',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Safari/605.1.15',
      'desktop',
      'Mac OS',
      'Safari',
    ],
    [
      'Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/538.1 (KHTML, like Gecko) Version/6.0 TV Safari/538.1',
      'other',
      'Tizen',
      'Safari',
    ],
    [`${IPHONE} Instagram 289.0.0.10.63 (iPhone14,5; iOS 16_5; en_US)`, 'mobile', 'iOS', 'Instagram'],
    [`${IPHONE} [FBAN/FBIOS;FBAV/420.0.0.36.70;FBBV/485]`, 'mobile', 'iOS', 'Facebook'],
    [`${IPHONE} musical_ly_30.0.0 JsSdk/2.0 BytedanceWebview/d8a21c6`, 'mobile', 'iOS', 'TikTok'],
    [`${IPHONE} Snapchat/12.36.0.40 (like Safari/8615.2.9.10.4, panda)`, 'mobile', 'iOS', 'Snapchat'],
  ]
  for (const [user_agent, device, os, browser] of cases) {
    assert.deepEqual(agentOf(user_agent), { kind: 'person', user_agent, device, os, browser })
    assert.ok(
      isAgentName('os', os, 'is') && isAgentName('browser', browser, 'is'),
      'a condition on it would be warned of',
    )
  }
})

test('crawlers and link previews are told from people', () => {
  for (const user_agent of [
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'TelegramBot (like TwitterBot)',
    'WhatsApp/2.23.20.0 A',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'AdsBot-Google (+http://www.google.com/adsbot.html)',
    'Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/112.0 Safari/537.36',
  ]) {
    assert.equal(agentOf(user_agent).kind, 'crawler', user_agent)
    assert.equal(agentOf(user_agent).device, 'bot')
  }
})

test('generic HTTP libraries count as visitors unless a campaign filters strictly', () => {
  for (const user_agent of [
    'curl/8.5.0',
    'Wget/1.21',
    'python-requests/2.31',
    'Python-urllib/3.10',
    'axios/1.6.2',
    'node-fetch',
    'node',
    'okhttp/4.9',
    'Go-http-client/1.1',
    'Java/11.0.2',
    'Apache-HttpClient/4.5',
    'PostmanRuntime/7.3',
    'libwww-perl/6.6',
    'GuzzleHttp/7',
    'Ruby',
    undefined,
    '',
  ])
    assert.equal(agentOf(user_agent).kind, 'library', user_agent)
  assert.equal(isTracked('library', false, false), true)
  assert.equal(isTracked('library', false, true), false)
  assert.equal(isTracked('person', false, true), true)
  assert.equal(isTracked('crawler', false, false), false)
})

test('loading ahead of a visitor is seen in the headers, and does not count', () => {
  for (const headers of [
    { purpose: 'prefetch' },
    { 'sec-purpose': 'prefetch;prerender' },
    { 'x-moz': 'prefetch' },
    { 'x-purpose': 'preview' },
  ])
    assert.equal(isAhead(headers), true)
  assert.equal(isAhead({ 'user-agent': PHONE, accept: '*/*' }), false)
  assert.equal(isTracked('person', true, false), false)
})

test('an agent is cut at 512 characters and never holds what cannot be stored', () => {
  assert.equal(agentOf(`${PHONE} ${'x'.repeat(9000)}`).user_agent?.length, 512)
  assert.equal(agentOf('a\0b').user_agent, 'ab')
  assert.equal(agentOf(['one', 'two']).user_agent, 'one')
})
