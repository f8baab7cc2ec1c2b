/**
 * The secrets of this installation: SECRET (from the environment, else created once in DATA_DIR) and the key of click ids, which stays in the database
 * for ever. The database stores SECRET's fingerprint, so that a wrong SECRET is refused instead of leaving tokens unreadable. Owns the table
 * `installation`.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import {
  closeSync,
  constants,
  fchownSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import { otherOwner } from '../folder-owner.ts'
import { StartError } from '../start-error.ts'
import type { Tables } from './tables.ts'

export type Secrets = {
  /** Encrypts and authenticates text (AES-256-GCM). `open` decrypts it or throws. */
  seal(text: string): Buffer
  open(sealed: Buffer): string
  /** HMAC-SHA-256, 32 bytes. Each `purpose` has its own key. */
  mac(purpose: string, text: string): Buffer
  /** 16 bytes of AES-128 key for the click id's last 32 bits. */
  readonly clickKey: Buffer
  /** The text stored encrypted in the database under this name, for ever. The first call stores the result of `make`. */
  kept(name: string, make: () => string): Promise<string>
}

/** Opens the secrets of this installation. @throws StartError when SECRET is not the one the database was made with. */
export async function openSecrets(config: Pick<Config, 'secret' | 'dataDir'>, db: Kysely<Tables>): Promise<Secrets> {
  const secret = config.secret ?? secretOnDisk(config.dataDir)
  const derive = (purpose: string, bytes: number) => Buffer.from(hkdfSync('sha256', secret, 'sluice', purpose, bytes))
  const fingerprint = fingerprintOf(secret)
  if ((await keep(db, 'secret_fingerprint', fingerprint)) !== fingerprint)
    throw new StartError(
      'SECRET is not the one this database was made with: start with the same SECRET (or DATA_DIR/secret) as before',
    )
  const clickKey = Buffer.from(await keep(db, 'click_id_key', randomBytes(16).toString('hex')), 'hex')
  const sealing = derive('seal', 32)
  // Key objects, because Node would convert plain bytes at each call, which takes four times as long as the hash.
  const macKeys = new Map<string, KeyObject>()
  const macKey = (purpose: string) => {
    const key = macKeys.get(purpose) ?? createSecretKey(derive(`mac ${purpose}`, 32))
    macKeys.set(purpose, key)
    return key
  }
  return {
    seal: text => seal(sealing, text),
    open: sealed => open(sealing, sealed),
    mac: (purpose, text) => createHmac('sha256', macKey(purpose)).update(text).digest(),
    clickKey,
    async kept(name, make) {
      const found = (await find(db, name)) ?? (await keep(db, name, seal(sealing, make()).toString('hex')))
      return open(sealing, Buffer.from(found, 'hex'))
    },
  }
}

async function find(db: Kysely<Tables>, name: string): Promise<string | undefined> {
  return (await db.selectFrom('installation').select('value').where('name', '=', name).executeTakeFirst())?.value
}

/** The fingerprint by which a database recognizes its SECRET. */
const fingerprintOf = (secret: string): string =>
  Buffer.from(hkdfSync('sha256', secret, 'sluice', 'fingerprint', 16)).toString('hex')

/** SECRET's fingerprint, and the key derived from it that signs backups. */
export type SecretHere = { readonly fingerprint: string; readonly backupKey: KeyObject }

/** Reads SECRET from the settings or DATA_DIR. Undefined if there is none; none is created. */
export function secretHere(config: Pick<Config, 'secret' | 'dataDir'>): SecretHere | undefined {
  const secret = config.secret ?? readSecret(join(config.dataDir, 'secret'))
  if (secret === undefined) return undefined
  const backupKey = createSecretKey(Buffer.from(hkdfSync('sha256', secret, 'sluice', 'backup', 32)))
  return { fingerprint: fingerprintOf(secret), backupKey }
}

/** Stores the value unless there is one, and returns the stored value. */
async function keep(db: Kysely<Tables>, name: string, value: string): Promise<string> {
  // Read first, because on a cluster a write to this table needs every node.
  const found = await find(db, name)
  if (found !== undefined) return found
  await db
    .insertInto('installation')
    .values({ name, value })
    .onConflict(on => on.doNothing())
    .execute()
  return (await find(db, name)) ?? value
}

function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new StartError(`${path} cannot be read: ${(error as Error).message}`)
  }
}

function secretOnDisk(dataDir: string): string {
  const path = join(dataDir, 'secret')
  const found = readSecret(path)
  if (found !== undefined) return found
  mkdirSync(dataDir, { recursive: true })
  const fresh = `${path}.${process.pid}`
  const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants
  const file = openSync(fresh, O_CREAT | O_NOFOLLOW | O_TRUNC | O_WRONLY, 0o600)
  writeFileSync(file, `${randomBytes(32).toString('base64url')}\n`, { flush: true })
  const owner = otherOwner(dataDir)
  if (owner) fchownSync(file, owner.uid, owner.gid)
  closeSync(file)
  // A hard link never replaces a file, so if two first starts run at once, the first one's secret stays.
  try {
    linkSync(fresh, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(fresh)
  }
  return readFileSync(path, 'utf8').trim()
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

function seal(key: Buffer, text: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

function open(key: Buffer, sealed: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  return decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
}
