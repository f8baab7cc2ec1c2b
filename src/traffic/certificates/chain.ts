/** Checks a certificate chain and its key before they are served. Pure. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import type { Validity } from './renewal.ts'

/** The chain or its key cannot be served. The message gives the reason and is shown after a colon. */
export class WrongChain extends Error {}

export type Leaf = Validity & {
  readonly certificate: X509Certificate
  /** Hexadecimal, in upper case. */
  readonly serial: string
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The certificates of a PEM text, in order. @throws WrongChain if there is none, or one is not readable */
function certificatesOf(pem: string): X509Certificate[] {
  const blocks = pem.match(BLOCK) ?? []
  if (blocks.length === 0) throw new WrongChain('there is no certificate in it')
  return blocks.map(block => {
    try {
      return new X509Certificate(block)
    } catch {
      throw new WrongChain('it holds a certificate that cannot be read')
    }
  })
}

function keyOf(pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    throw new WrongChain('the key cannot be read: it must be PEM, without a password')
  }
}

/** The first certificate of a chain. @throws WrongChain if the key does not belong to it */
export function requireMatchingKey(chain: string, key: string): Leaf {
  const [certificate] = certificatesOf(chain)
  if (certificate === undefined) throw new WrongChain('there is no certificate in it')
  if (!certificate.checkPrivateKey(keyOf(key))) throw new WrongChain('the key belongs to another certificate')
  return {
    certificate,
    serial: certificate.serialNumber,
    not_before: certificate.validFromDate.getTime(),
    not_after: certificate.validToDate.getTime(),
  }
}

/**
 * Checks an issued chain against its order: the name, the key, the time, and that each certificate is signed by the next. The intermediate
 * certificate is required, because browsers that have not seen it elsewhere would refuse the chain. @throws WrongChain
 */
export function requireIssued(chain: string, key: string, name: string, now: number): Leaf {
  const leaf = requireMatchingKey(chain, key)
  if (leaf.certificate.checkHost(name) === undefined) throw new WrongChain(`it is not for ${name}`)
  if (leaf.not_after <= now) throw new WrongChain('it has expired')
  const certificates = certificatesOf(chain)
  if (certificates.length < 2) throw new WrongChain('the intermediate certificate is missing')
  for (const [at, certificate] of certificates.slice(0, -1).entries()) {
    const issuer = certificates[at + 1]
    if (issuer === undefined || !certificate.checkIssued(issuer) || !certificate.verify(issuer.publicKey))
      throw new WrongChain('its certificates are not signed by each other')
  }
  return leaf
}
