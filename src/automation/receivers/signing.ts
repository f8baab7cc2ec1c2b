/** Signs calls of webhooks in the form of standardwebhooks.com. */
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'

/** As many bytes as the hash has, which is as strong as the signature gets. */
const SECRET_BYTES = 32

/** A new secret: `whsec_` and base64. */
export const newWebhookSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/** The headers of a call. Each secret makes one signature. `at_ms` is the time of the attempt. */
export function signedHeaders(secrets: readonly string[], id: string, at_ms: number, body: string) {
  const timestamp = String(Math.floor(at_ms / 1000))
  const signatures = secrets.map(secret => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}
