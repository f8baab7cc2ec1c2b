import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from './config.ts'
import { StartError } from './start-error.ts'

const refusal = (env: NodeJS.ProcessEnv): string => {
  try {
    readConfig(env)
  } catch (error) {
    assert.ok(error instanceof StartError)
    return error.message
  }
  return assert.fail('nothing was refused')
}

test('without any setting Sluice listens on this machine alone and is invite-only', () => {
  const config = readConfig({})
  assert.partialDeepStrictEqual(config, {
    port: 8080,
    host: '127.0.0.1',
    databaseUrl: [],
    trustProxy: [],
    signUp: 'invite',
    role: 'all',
    pricePerPerson: '0.05',
    welcomeCredit: '10.00',
    allowPrivateTargets: false,
    keepAttemptsDays: 90,
    keepHistoryDays: 400,
    keepClicksMonths: 'forever',
  })
  assert.equal(config.baseUrl, undefined)
  assert.ok(Object.isFrozen(config))
})

test('an empty variable counts as unset', () => {
  assert.deepEqual(readConfig({ PORT: '', BASE_URL: ' ', DATABASE_URL: '' }), readConfig({}))
})

test('lists are split, a comma inside a password is not', () => {
  const config = readConfig({
    DATABASE_URL: 'postgres://u:a,b@one/d, postgresql://two/d',
    TRUST_PROXY: '127.0.0.1, 10.0.0.0/8,fd00::/8',
    ALSO_HOSTS: 'WWW.track.example, 10.0.0.5,[fd00::1]',
  })
  assert.deepEqual(config.alsoHosts, ['www.track.example', '10.0.0.5', '[fd00::1]'])
  assert.deepEqual(config.databaseUrl, ['postgres://u:a,b@one/d', 'postgresql://two/d'])
  assert.deepEqual(config.trustProxy, ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'])
})

test('private hosts for updates each need a port, and are normalized like hosts of addresses', () => {
  const { relayPrivateHosts } = readConfig({ RELAY_PRIVATE_HOSTS: '10.0.0.5:3000, Bots.Internal:443,[fd00:0::5]:080' })
  assert.deepEqual(relayPrivateHosts, ['10.0.0.5:3000', 'bots.internal:443', '[fd00::5]:80'])
  for (const wrong of [
    '127.0.0.1',
    'bots.internal:',
    'bots.internal:0',
    'a:65536',
    'fd00::5:3000',
    'http://a:1',
    'a:1/x',
    ':80',
  ])
    assert.equal(
      refusal({ RELAY_PRIVATE_HOSTS: wrong }),
      `RELAY_PRIVATE_HOSTS is "${wrong}", allowed is hosts each with its port, such as 10.0.0.5:3000,[fd00::5]:3000,bots.internal:443`,
    )
})

test('retention is a number of days or months, or forever', () => {
  assert.equal(readConfig({ KEEP_CLICKS_MONTHS: '13' }).keepClicksMonths, 13)
  assert.equal(readConfig({ KEEP_ATTEMPTS_DAYS: '30' }).keepAttemptsDays, 30)
  assert.equal(readConfig({ KEEP_ATTEMPTS_DAYS: 'forever' }).keepAttemptsDays, 'forever')
})

test('addresses come back without a trailing slash', () => {
  const config = readConfig({ BASE_URL: 'https://Track.Example.com:443/', TELEGRAM_API_ROOT: 'http://127.0.0.1:1/x/' })
  assert.equal(config.baseUrl, 'https://track.example.com')
  assert.equal(config.telegramApiRoot, 'http://127.0.0.1:1/x')
})

test('each wrong value is refused with its name, itself and what is allowed, all in one line', () => {
  const wrong: NodeJS.ProcessEnv = {
    PORT: '65536',
    HOST: 'a b',
    BASE_URL: 'https://example.com/path',
    ALSO_HOSTS: 'https://www.track.example',
    SIGN_UP: 'closed',
    ROLE: 'worker',
    TRUST_PROXY: '10.0.0.0/33',
    GEOIP_DB_PATH: '/no/such/file.mmdb',
    GEOIP_COUNTRY_HEADER: 'a header',
    PRICE_PER_PERSON: '-1',
    WELCOME_CREDIT: '1e3',
    ALLOW_PRIVATE_TARGETS: 'yes',
    KEEP_ATTEMPTS_DAYS: '0',
    KEEP_CLICKS_MONTHS: '1.5',
    META_GRAPH_BASE: 'graph.facebook.com',
    FX_SOURCES: 'ecb,ecb',
    RELAY_PRIVATE_HOSTS: '127.0.0.1:3000,bots.internal',
    LOG_LEVEL: 'loud',
  }
  for (const [name, value] of Object.entries(wrong)) {
    const message = refusal({ [name]: value })
    assert.ok(message.startsWith(`${name} is ${JSON.stringify(value)}, allowed is `), message)
    assert.doesNotMatch(message, /\n/)
  }
  assert.match(refusal({ PORT: 'x', ROLE: 'y' }), /^PORT is "x", .*; ROLE is "y", /)
})

test('a wrong secret is refused without being shown', () => {
  const secrets = {
    SECRET: 'short',
    DATABASE_URL: 'mysql://root:hidden@x',
    REDIS_URL: 'hidden',
    SMTP_URL: 'https://hidden',
    OPENEXCHANGERATES_APP_ID: 'hidden?',
    WEB_RISK_KEY: 'hidden',
  }
  for (const [name, value] of Object.entries(secrets)) {
    const message = refusal({ [name]: value })
    assert.ok(message.startsWith(`${name} is wrong, allowed is `), message)
    assert.ok(!message.includes(value) && !message.includes('hidden'), message)
  }
})

test('TLS needs an https BASE_URL with a name, its ports have their usual numbers, and files come in pairs', () => {
  const good = { TLS: 'auto', BASE_URL: 'https://track.example.com' }
  const { tls, httpsPort, httpPort, tlsHost, acmeDirectory } = readConfig(good)
  assert.deepEqual(
    [tls, httpsPort, httpPort, tlsHost, acmeDirectory],
    ['auto', 443, 80, '::', 'https://acme-v02.api.letsencrypt.org/directory'],
  )
  assert.equal(readConfig({}).tls, 'off')
  const needsHttps = 'TLS=auto needs BASE_URL with https://, such as https://track.example.com'
  assert.equal(refusal({ TLS: 'auto' }), needsHttps)
  assert.equal(refusal({ TLS: 'auto', BASE_URL: 'http://track.example.com' }), needsHttps)
  for (const host of ['203.0.113.7', 'localhost', '[::1]'])
    assert.match(
      refusal({ TLS: 'auto', BASE_URL: `https://${host}` }),
      /needs a BASE_URL with a name that certificates/,
    )
  const { filename } = import.meta
  assert.equal(
    refusal({ ...good, TLS: 'files', TLS_CERT: filename }),
    'TLS=files needs TLS_CERT and TLS_KEY, the paths of two PEM files',
  )
  assert.equal(refusal({ ...good, TLS_CERT: filename }), 'TLS_CERT and TLS_KEY are set together')
  assert.match(refusal({ ...good, TLS_KEY: '/nowhere' }), /^TLS_KEY is "\/nowhere", allowed is the path of a PEM file/)
  assert.ok(!refusal({ ...good, ACME_EAB: 'only-a-secret' }).includes('only-a-secret'))
  for (const wrong of [{ TLS: 'on' }, { HTTPS_PORT: '70000' }, { ACME_EMAIL: 'me' }, { ACME_PROFILE: 'a b' }])
    refusal({ ...good, ...wrong })
})
