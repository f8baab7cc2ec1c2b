// Click ids: a UUIDv7 whose last 32 bits hold the organization's number, masked by AES-128 of the 96 bits before them. So a click id
// alone gives its organization without a search, and outsiders cannot tell which ids belong to one organization.
//   48 bits milliseconds · 4 version · 12 random · 2 variant · 30 random · 32 organization XOR AES(upper 96 bits, 32 zero bits)
import { type Cipheriv, createCipheriv, randomFillSync } from 'node:crypto'

/** One cipher per key: in ECB mode blocks are independent, and creating a cipher costs ten times as much as a block. */
const ciphers = new WeakMap<Uint8Array, Cipheriv>()
const block = Buffer.alloc(16)

/** Random bytes are fetched for many ids at once: asking for 6 at a time would cost more than the rest of the id. */
const BYTES_PER_ID = 6
const random = Buffer.alloc(1024 * BYTES_PER_ID)
let used = random.length

/**
 * A fresh click id of the organization, as a uuid.
 * @param key the installation's click key, 16 bytes, kept for ever (`secrets.clickKey`).
 * @param ms the Unix time the id carries.
 */
export function mintClickId(key: Uint8Array, org_id: number, ms = Date.now()): string {
  if (used === random.length) {
    randomFillSync(random)
    used = 0
  }
  block.writeUIntBE(ms, 0, 6)
  random.copy(block, 6, used, used + BYTES_PER_ID)
  used += BYTES_PER_ID
  block[6] = 0x70 | (block.readUInt8(6) & 0x0f)
  block[8] = 0x80 | (block.readUInt8(8) & 0x3f)
  block.writeUInt32BE((org_id ^ maskOfBlock(key)) >>> 0, 12)
  const hex = block.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/**
 * The `org_id` in a click id, given as a canonical uuid (`toUuid`). Undefined if Sluice cannot have made the id. Other foreign ids give
 * a random number, so the click still has to be looked up.
 */
export function organizationOfClick(key: Uint8Array, uuid: string): number | undefined {
  block.write(uuid.replaceAll('-', ''), 0, 'hex')
  if (block.readUInt8(6) >> 4 !== 7) return undefined
  const org_id = (block.readUInt32BE(12) ^ maskOfBlock(key)) >>> 0
  return org_id > 0 && org_id <= 0x7fff_ffff ? org_id : undefined
}

function maskOfBlock(key: Uint8Array): number {
  let cipher = ciphers.get(key)
  if (cipher === undefined) {
    cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false)
    ciphers.set(key, cipher)
  }
  block.writeUInt32BE(0, 12)
  return cipher.update(block).readUInt32BE(0)
}
