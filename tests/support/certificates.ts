// A test's own certificate authority, with an intermediate certificate below its root, like public authorities.
import { webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const YEAR_MS = 365 * 24 * 60 * 60_000

export type IssuedCertificate = { readonly chain: string; readonly key: string }
type CertificateRequest = {
  readonly names: readonly string[]
  readonly not_before?: number
  readonly not_after?: number
  /** Hexadecimal. */
  readonly serial?: string
}

export type TestAuthority = {
  /** In PEM, for clients that trust it. */
  readonly root: string
  /** A certificate and its key. */
  issue(request: CertificateRequest): Promise<IssuedCertificate>
  /** A chain for somebody else's key: their request in DER, or a public key. */
  sign(publicKey: x509.PublicKeyType, request: CertificateRequest): Promise<string>
  readonly intermediate: string
}

const keyPair = () => webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
const serialOf = () =>
  `4${Buffer.from(webcrypto.getRandomValues(new Uint8Array(9)))
    .toString('hex')
    .slice(1)}`

export async function pemOf(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')
}

export async function makeAuthority(): Promise<TestAuthority> {
  const [rootKeys, keys] = [await keyPair(), await keyPair()]
  const during = { notBefore: new Date(Date.now() - YEAR_MS), notAfter: new Date(Date.now() + YEAR_MS) }
  const isAuthority = () => [
    new x509.BasicConstraintsExtension(true, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
  ]
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialOf(),
    name: 'CN=Test Root',
    ...during,
    keys: rootKeys,
    signingAlgorithm: ALGORITHM,
    extensions: [...isAuthority(), await x509.SubjectKeyIdentifierExtension.create(rootKeys.publicKey)],
  })
  const intermediate = await x509.X509CertificateGenerator.create({
    serialNumber: serialOf(),
    subject: 'CN=Test Authority',
    issuer: root.subject,
    ...during,
    publicKey: keys.publicKey,
    signingKey: rootKeys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [...isAuthority(), await x509.SubjectKeyIdentifierExtension.create(keys.publicKey)],
  })
  const sign: TestAuthority['sign'] = async (publicKey, { names, not_before, not_after, serial }) => {
    const leaf = await x509.X509CertificateGenerator.create({
      serialNumber: serial ?? serialOf(),
      subject: '',
      issuer: intermediate.subject,
      notBefore: new Date(not_before ?? Date.now() - 60_000),
      notAfter: new Date(not_after ?? Date.now() + YEAR_MS / 4),
      publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.SubjectAlternativeNameExtension(
          names.map(value => ({ type: /^[\d.]+$/.test(value) ? ('ip' as const) : ('dns' as const), value })),
        ),
        await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
      ],
    })
    return `${leaf.toString('pem')}\n${intermediate.toString('pem')}\n`
  }
  return {
    root: root.toString('pem'),
    intermediate: intermediate.toString('pem'),
    sign,
    async issue(request) {
      const own = await keyPair()
      return { chain: await sign(own.publicKey, request), key: await pemOf(own.privateKey) }
    },
  }
}
