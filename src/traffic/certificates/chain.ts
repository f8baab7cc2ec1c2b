/** What a certificate's chain and key have to be before visitors are given them. Pure. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import type { Validity } from './renewal.ts'

/** The chain or its key cannot be served; the message says why, to be read behind a colon. */
export class WrongChain extends Error {}

export type Leaf = Validity & {
  readonly certificate: X509Certificate
  /** Hexadecimal, in capitals. */
  readonly serial: string
}

const BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** The certificates of a PEM text in its order. @throws WrongChain where there is none, or one that cannot be read. */
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
    throw new WrongChain('the key cannot be read: it has to be PEM, without a password')
  }
}

/** The first certificate of a chain, and that the key is its own. @throws WrongChain */
export function requireKey(chain: string, key: string): Leaf {
  const [certificate] = certificatesOf(chain)
  if (certificate === undefined) throw new WrongChain('there is no certificate in it')
  if (!certificate.checkPrivateKey(keyOf(key))) throw new WrongChain('the key is another certificate’s')
  return {
    certificate,
    serial: certificate.serialNumber,
    not_before: certificate.validFromDate.getTime(),
    not_after: certificate.validToDate.getTime(),
  }
}

/**
 * Holds what an authority has sent against what was ordered: the name, the key, the time, and a chain in which each certificate is signed by the
 * next. One without the authority's own would be refused by browsers that have not met it elsewhere. @throws WrongChain
 */
export function requireIssued(chain: string, key: string, name: string, now: number): Leaf {
  const leaf = requireKey(chain, key)
  if (leaf.certificate.checkHost(name) === undefined) throw new WrongChain(`it is not for ${name}`)
  if (leaf.not_after <= now) throw new WrongChain('it has ended already')
  const certificates = certificatesOf(chain)
  if (certificates.length < 2) throw new WrongChain('it comes without the authority’s own certificate')
  for (const [at, certificate] of certificates.slice(0, -1).entries()) {
    const issuer = certificates[at + 1]
    if (issuer === undefined || !certificate.checkIssued(issuer) || !certificate.verify(issuer.publicKey))
      throw new WrongChain('its certificates do not follow from each other')
  }
  return leaf
}
