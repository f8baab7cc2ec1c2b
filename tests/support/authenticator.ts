// A passkey without a browser: makes a key pair and signs challenges as an authenticator does (WebAuthn, ES256, no attestation).
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

type Options = { challenge: string; rp?: { id?: string }; rpId?: string }
type Deviation = {
  /** Whether the user was verified. */
  isVerified?: boolean
  origin?: string
  host?: string
  challenge?: string
  /** The transports it claims. */
  transports?: unknown
}

const hashOf = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest()
const text = (bytes: Buffer | string) => Buffer.from(bytes).toString('base64url')

/** A small part of CBOR: small maps, byte and text strings, small integers. */
function cbor(value: unknown): Buffer {
  const head = (major: number, count: number) =>
    count < 24
      ? Buffer.from([(major << 5) | count])
      : count < 256
        ? Buffer.from([(major << 5) | 24, count])
        : Buffer.from([(major << 5) | 25, count >> 8, count & 255])
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  const map = value as Map<unknown, unknown>
  return Buffer.concat([head(5, map.size), ...[...map].flatMap(([name, one]) => [cbor(name), cbor(one)])])
}

/** An ES256 public key in COSE's numbers. */
const coseKey = (x: string, y: string) =>
  new Map<number, unknown>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(x, 'base64url')],
    [-3, Buffer.from(y, 'base64url')],
  ])

/** A new passkey, with an id of `length` bytes. */
export function newAuthenticator(length = 32) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const id = randomBytes(length)
  let uses = 0
  const seen = (host: string, flags: number) => {
    uses += 1
    const count = Buffer.alloc(4)
    count.writeUInt32BE(uses)
    return Buffer.concat([hashOf(host), Buffer.from([flags]), count])
  }
  const client = (type: string, challenge: string, origin: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  const common = { id: text(id), rawId: text(id), type: 'public-key', clientExtensionResults: {} }
  return {
    /** The result of `navigator.credentials.create`. */
    make(
      options: Options,
      {
        isVerified = true,
        origin = 'http://localhost:8080',
        host,
        challenge,
        transports = ['internal'],
      }: Deviation = {},
    ) {
      const key = coseKey(x, y)
      const size = Buffer.from([id.length >> 8, id.length & 255])
      const authData = Buffer.concat([
        seen(host ?? options.rp?.id ?? '', isVerified ? 0x45 : 0x41),
        Buffer.alloc(16),
        size,
        id,
        cbor(key),
      ])
      const attestation = cbor(
        new Map<string, unknown>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', authData],
        ]),
      )
      const said = client('webauthn.create', challenge ?? options.challenge, origin)
      return {
        ...common,
        response: { clientDataJSON: text(said), attestationObject: text(attestation), transports },
      }
    },
    /** The result of `navigator.credentials.get`. */
    sign(options: Options, { isVerified = true, origin = 'http://localhost:8080', host, challenge }: Deviation = {}) {
      const said = client('webauthn.get', challenge ?? options.challenge, origin)
      const authData = seen(host ?? options.rpId ?? '', isVerified ? 0x05 : 0x01)
      const signature = sign('sha256', Buffer.concat([authData, hashOf(said)]), privateKey)
      return {
        ...common,
        response: { clientDataJSON: text(said), authenticatorData: text(authData), signature: text(signature) },
      }
    },
  }
}
