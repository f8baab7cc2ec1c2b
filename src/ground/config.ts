// The settings of one Sluice process: the environment, parsed once into one frozen object. An empty variable counts as
// unset. Nothing else in the project reads `process.env` for a setting.
import { isIP } from 'node:net'
import * as z from 'zod'
import {
  RATE_SOURCES,
  commas,
  folder,
  hostWithPort,
  http,
  isHostName,
  isNetwork,
  isPort,
  isRateSource,
  isReadable,
  isRedis,
  isServer,
  isUrl,
  kept,
  money,
  nodes,
  origin,
  port,
  trueOrFalse,
  upTo,
} from './setting-forms.ts'
import { StartError } from './start-error.ts'

/** One setting: its schema, the allowed values in words for the error message, and whether its value is a secret that no message shows. */
type Setting<T extends z.ZodType = z.ZodType> = { schema: T; allowed: string; secret?: boolean }

const setting = <T extends z.ZodType>(schema: T, allowed: string, secret = false): Setting<T> => ({
  schema,
  allowed,
  secret,
})

const aHttpAddress = 'an address that begins with http:// or https://'
const anAmount = 'an amount in USD such as 0.05: up to 7 digits, then up to 6 decimals'

const settings = {
  PORT: setting(port.default(8080), 'a whole number from 0 to 65535 (0 takes any free port)'),
  HOST: setting(
    z.string().regex(/^\S+$/).default('127.0.0.1'),
    'an address of this machine, or 0.0.0.0 for all of them',
  ),
  REUSE_PORT: setting(trueOrFalse.default(false), 'true or false'),
  BASE_URL: setting(origin.optional(), 'the public address without a path, such as https://track.example.com'),
  ALSO_HOSTS: setting(
    z
      .string()
      .toLowerCase()
      .transform(commas)
      .refine(list => list.every(isHostName))
      .default([]),
    'host names without a port, such as www.track.example, separated by commas',
  ),
  DATA_DIR: setting(z.string().default('./data').pipe(folder), 'a folder'),
  JOURNAL_RESERVE_MB: setting(upTo(1024).default(64), 'a whole number of megabytes from 0 (no reserve) to 1024'),
  DATABASE_URL: setting(
    z
      .string()
      .transform(nodes)
      .refine(list => list.every(node => /^postgres(ql)?:\/\/./.test(node)))
      .default([]),
    'postgres://user:password@host:5432/database, or several of them separated by commas',
    true,
  ),
  NEW_INSTALLATION: setting(z.enum(['allow', 'refuse']).default('allow'), 'allow or refuse'),
  REDIS_URL: setting(
    z.string().refine(isRedis).optional(),
    'redis://host:6379, rediss://host:6379 or the path of a socket',
    true,
  ),
  SIGN_UP: setting(z.enum(['invite', 'open']).default('invite'), 'invite or open'),
  OPERATORS: setting(
    z
      .string()
      .toLowerCase()
      .transform(commas)
      .refine(list => list.every(address => z.email().safeParse(address).success))
      .default([]),
    'e-mail addresses of accounts, separated by commas',
  ),
  MAX_WORKSPACES_PER_PERSON: setting(
    z
      .string()
      .regex(/^[1-9]\d{0,5}$/)
      .transform(Number)
      .default(10),
    'a whole number from 1 to 999999',
  ),
  SECRET: setting(z.string().min(16).optional(), 'at least 16 characters', true),
  ROLE: setting(z.enum(['all', 'serve', 'work']).default('all'), 'all, serve or work'),
  TRUST_PROXY: setting(
    z
      .string()
      .transform(commas)
      .refine(list => list.every(isNetwork))
      .default([]),
    'the addresses of your own proxies, such as 127.0.0.1 or 10.0.0.0/8, separated by commas',
  ),
  GEOIP_DB_PATH: setting(z.string().refine(isReadable).optional(), 'the path of an .mmdb file that can be read'),
  GEOIP_COUNTRY_HEADER: setting(
    z
      .string()
      .regex(/^[\w-]+$/)
      .toLowerCase()
      .optional(),
    'the name of a header, such as CF-IPCountry',
  ),
  SMTP_URL: setting(
    z
      .string()
      .refine(value => isUrl(value, 'smtp:', 'smtps:'))
      .optional(),
    'smtp://user:password@host:587 or smtps://…',
    true,
  ),
  PRICE_PER_PERSON: setting(money.default('0.05'), anAmount),
  WELCOME_CREDIT: setting(money.default('10.00'), anAmount),
  ARCHIVE_DIR: setting(folder.optional(), 'a folder'),
  BACKUP_DIR: setting(folder.optional(), 'a folder'),
  BACKUP_KEEP: setting(
    z
      .string()
      .regex(/^[1-9]\d{0,4}$/)
      .transform(Number)
      .default(14),
    'a whole number from 1 to 99999',
  ),
  BACKUP_OTHER_DATA_DIRS: setting(
    z
      .string()
      .transform(value => value.split(/\s+/))
      .default([]),
    'folders, separated by spaces',
  ),
  KEEP_ATTEMPTS_DAYS: setting(kept.default(90), 'a whole number of days from 1 to 9999, or forever'),
  KEEP_HISTORY_DAYS: setting(kept.default(400), 'a whole number of days from 1 to 9999, or forever'),
  KEEP_CLICKS_MONTHS: setting(kept.default('forever'), 'a whole number of months from 1 to 9999, or forever'),
  ALLOW_PRIVATE_TARGETS: setting(trueOrFalse.default(false), 'true or false'),
  META_GRAPH_BASE: setting(http.default('https://graph.facebook.com'), aHttpAddress),
  META_GRAPH_VERSION: setting(
    z
      .string()
      .regex(/^v\d{1,3}\.\d{1,2}$/)
      .default('v25.0'),
    'a version of the Graph API, such as v25.0',
  ),
  TIKTOK_API_BASE: setting(http.default('https://business-api.tiktok.com'), aHttpAddress),
  GOOGLE_DM_BASE: setting(http.default('https://datamanager.googleapis.com'), aHttpAddress),
  GOOGLE_TOKEN_URL: setting(http.default('https://oauth2.googleapis.com/token'), aHttpAddress),
  TELEGRAM_API_ROOT: setting(http.default('https://api.telegram.org'), aHttpAddress),
  RELAY_PRIVATE_HOSTS: setting(
    z
      .string()
      .toLowerCase()
      .transform(value => commas(value).map(hostWithPort))
      .refine(list => list.every(entry => entry !== undefined))
      .default([]),
    'hosts each with its port, such as 10.0.0.5:3000,[fd00::5]:3000,bots.internal:443',
  ),
  FX_SOURCES: setting(
    z
      .string()
      .transform(value => (value === 'off' ? [] : commas(value)))
      .refine(list => new Set(list).size === list.length && list.every(isRateSource))
      .default([...RATE_SOURCES]),
    'ecb, cbr, both separated by a comma in the order they are believed, or off',
  ),
  OPENEXCHANGERATES_APP_ID: setting(
    z
      .string()
      .regex(/^\w{8,128}$/)
      .optional(),
    'the app id of an account',
    true,
  ),
  ECB_BASE: setting(http.default('https://www.ecb.europa.eu'), aHttpAddress),
  CBR_BASE: setting(http.default('https://www.cbr.ru'), aHttpAddress),
  OPENEXCHANGERATES_BASE: setting(http.default('https://openexchangerates.org'), aHttpAddress),
  TLS: setting(z.enum(['off', 'auto', 'files']).default('off'), 'off, auto or files'),
  TLS_CERT: setting(z.string().refine(isReadable).optional(), 'the path of a PEM file that can be read'),
  TLS_KEY: setting(z.string().refine(isReadable).optional(), 'the path of a PEM file that can be read'),
  TLS_HOST: setting(z.string().regex(/^\S+$/).default('::'), 'an address of this machine, or :: for all of them'),
  HTTPS_PORT: setting(port.default(443), 'a whole number from 0 to 65535'),
  HTTP_PORT: setting(port.default(80), 'a whole number from 0 to 65535'),
  ACME_DIRECTORY: setting(http.default('https://acme-v02.api.letsencrypt.org/directory'), aHttpAddress),
  ACME_EMAIL: setting(z.email().optional(), 'an address for mail'),
  ACME_EAB: setting(
    z
      .string()
      .regex(/^[^\s:]+:[\w-]+=*$/)
      .optional(),
    'the id and the key of an account at the authority, as id:key',
    true,
  ),
  ACME_PROFILE: setting(
    z
      .string()
      .regex(/^[\w.-]{1,64}$/)
      .optional(),
    'the name of a profile of the authority, such as tlsserver',
  ),
  DNS_SERVERS: setting(
    z
      .string()
      .transform(commas)
      .refine(list => list.every(isServer))
      .default([]),
    'addresses of DNS servers, such as 1.1.1.1 or 9.9.9.9:53, separated by commas',
  ),
  WEB_RISK_KEY: setting(
    z
      .string()
      .regex(/^[\w-]{16,128}$/)
      .optional(),
    'an API key of Google Cloud',
    true,
  ),
  WEB_RISK_BASE: setting(http.default('https://webrisk.googleapis.com'), aHttpAddress),
  CHECK_PORTS: setting(
    z
      .string()
      .transform(value => commas(value).map(Number))
      .refine(list => list.length === 2 && list.every(isPort))
      .default([80, 443]),
    'the ports of http and https, such as 80,443',
  ),
  LOG_LEVEL: setting(
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    'fatal, error, warn, info, debug, trace or silent',
  ),
  SLOW_QUERY_MS: setting(upTo(99_999).default(1000), 'a whole number of milliseconds from 0 (none) to 99999'),
  ACCESS_LOG: setting(trueOrFalse.default(false), 'true or false'),
}

type Settings = typeof settings
type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${Capitalize<CamelCase<Tail>>}`
  : Lowercase<S>

/** Every setting under the camelCase form of its variable's name (`BASE_URL` → `baseUrl`), defaults filled in. */
export type Config = Readonly<{ [K in keyof Settings as CamelCase<K>]: z.output<Settings[K]['schema']> }>

const camelCase = (name: string): string =>
  name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/**
 * Reads all settings. `dataDir` comes back absolute, `databaseUrl`, `trustProxy` and `alsoHosts` as lists (empty when unset), amounts
 * as decimal strings, addresses without a trailing slash.
 * @throws StartError naming each wrong setting, what it is and what is allowed, in one line.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const wrong: string[] = []
  const values = Object.entries(settings).map(([name, { schema, allowed, secret }]: [string, Setting]) => {
    const given = env[name]?.trim()
    const read = schema.safeParse(given === '' ? undefined : given)
    if (!read.success) wrong.push(`${name} is ${secret ? 'wrong' : JSON.stringify(given)}, allowed is ${allowed}`)
    return [camelCase(name), read.data]
  })
  // The mapped type and the loop name the same keys, which the compiler cannot follow through Object.fromEntries.
  const config = Object.fromEntries(values) as Config
  if (wrong.length === 0) wrong.push(...wrongTogether(config))
  if (wrong.length > 0) throw new StartError(wrong.join('; '))
  return Object.freeze(config)
}

/** The faults of settings that are valid by themselves but not together. */
function wrongTogether({ archiveDir, databaseUrl, ...config }: Config): string[] {
  if (archiveDir === undefined || databaseUrl.length === 0) return wrongWithTls(config)
  const own =
    'ARCHIVE_DIR is for the embedded PostgreSQL: with DATABASE_URL set archive_command on your server (docs/operating.md)'
  return [own, ...wrongWithTls(config)]
}

function wrongWithTls({
  tls,
  baseUrl,
  tlsCert,
  tlsKey,
}: Pick<Config, 'tls' | 'baseUrl' | 'tlsCert' | 'tlsKey'>): string[] {
  if (tls === 'off') return []
  const host = URL.parse(baseUrl ?? '')?.hostname ?? ''
  const wrong: string[] = []
  if (baseUrl?.startsWith('https://') !== true)
    wrong.push(`TLS=${tls} needs BASE_URL with https://, such as https://track.example.com`)
  else if (tls === 'auto' && (!host.includes('.') || isIP(host) !== 0))
    wrong.push(`TLS=auto needs a BASE_URL with a name that certificates are given for, ${JSON.stringify(host)} is none`)
  if (tls === 'files' && (tlsCert === undefined || tlsKey === undefined))
    wrong.push('TLS=files needs TLS_CERT and TLS_KEY, the paths of two PEM files')
  else if ((tlsCert === undefined) !== (tlsKey === undefined)) wrong.push('TLS_CERT and TLS_KEY are set together')
  return wrong
}
