// An authenticator app (RFC 6238): six digits, a new code every half minute.
import { createHmac } from 'node:crypto'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The code at a time, for the address in the QR code. */
export function codeOf(totpURI: string, at_ms = Date.now()): string {
  const secret = new URL(totpURI).searchParams.get('secret') ?? ''
  const bits = Array.from(secret, letter => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const bytes = Buffer.from((bits.match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)))
  const step = Buffer.alloc(8)
  step.writeBigUInt64BE(BigInt(Math.floor(at_ms / 30_000)))
  const mac = createHmac('sha1', bytes).update(step).digest()
  const at = (mac.at(-1) ?? 0) & 15
  return String((mac.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}
