/** The metrics of certificates in `/metrics`, for this process. */
import { Counter, Gauge } from 'prom-client'
import { expiryWarningAt, type Validity } from './renewal.ts'

/** The certificate of a name. Its times are NaN if there is none. */
export type CountedCertificate = Validity & { readonly is_main: boolean; readonly has_failed: boolean }

const STATES = ['active', 'not_renewed', 'ending', 'ended', 'waiting', 'failing'] as const
type State = (typeof STATES)[number]

/** `not_renewed`: in service, but the last renewal failed; `ending`: in service, and its expiry is near; `failing`: there is none, and the last order failed. */
function stateOf(certificate: CountedCertificate, now: number): State {
  if (Number.isNaN(certificate.not_after)) return certificate.has_failed ? 'failing' : 'waiting'
  if (certificate.not_after <= now) return 'ended'
  if (expiryWarningAt(certificate) <= now) return 'ending'
  return certificate.has_failed ? 'not_renewed' : 'active'
}

export const orders = new Counter({
  name: 'sluice_acme_orders_total',
  help: 'Certificate orders, by result: issued, failed, limited, overtaken',
  labelNames: ['result'],
})

export const handshakeFailures = new Counter({
  name: 'sluice_tls_handshake_failures_total',
  help: 'TLS handshakes that failed, by reason: no_certificate, protocol, closed, timeout, other',
  labelNames: ['reason'],
})

const sources = new Set<() => readonly CountedCertificate[]>()
const all = (): CountedCertificate[] => [...sources].flatMap(read => read())

new Gauge({
  name: 'sluice_certificates',
  help: 'Served names, by the state of their certificate',
  labelNames: ['state'],
  collect() {
    const now = Date.now()
    const states = sources.size === 0 ? [] : STATES
    const counted = Map.groupBy(all(), certificate => stateOf(certificate, now))
    this.reset()
    for (const state of states) this.set({ state }, counted.get(state)?.length ?? 0)
  },
})

countSoonestExpiry('sluice_certificate_soonest_expiry_seconds', 'the first certificate in service', () => true)
countSoonestExpiry(
  'sluice_certificate_main_expiry_seconds',
  "the main host's first certificate in service",
  of => of.is_main,
)

function countSoonestExpiry(name: string, what: string, isCounted: (certificate: CountedCertificate) => boolean): void {
  new Gauge({
    name,
    help: `Seconds until ${what} expires; negative once it has expired`,
    labelNames: [],
    collect() {
      const ends = all().filter(one => isCounted(one) && !Number.isNaN(one.not_after))
      if (ends.length > 0) this.set((Math.min(...ends.map(one => one.not_after)) - Date.now()) / 1000)
      else this.remove()
    },
  })
}

/** Counts these certificates until the returned function is called. */
export function countCertificates(read: () => readonly CountedCertificate[]): () => void {
  sources.add(read)
  return () => void sources.delete(read)
}
