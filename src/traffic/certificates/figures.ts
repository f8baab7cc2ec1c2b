/** What operators watch of certificates: in `/metrics`, of this process. */
import { Counter, Gauge } from 'prom-client'
import { endIsNear, type Validity } from './renewal.ts'

/** A name's certificate; without one its times are NaN. */
export type Shown = Validity & { readonly has_failed: boolean }

const STATES = ['active', 'ending', 'ended', 'waiting', 'failing'] as const
type State = (typeof STATES)[number]

/** `ending`: it should have been renewed long since; `failing`: there is none, and it could not be had. */
function stateOf(shown: Shown, now: number): State {
  if (Number.isNaN(shown.not_after)) return shown.has_failed ? 'failing' : 'waiting'
  if (shown.not_after <= now) return 'ended'
  return endIsNear(shown) <= now ? 'ending' : 'active'
}

export const orders = new Counter({
  name: 'sluice_acme_orders_total',
  help: 'Certificates ordered of an authority, by what came of it: issued, failed, limited, overtaken',
  labelNames: ['result'],
})

export const handshakeFailures = new Counter({
  name: 'sluice_tls_handshake_failures_total',
  help: 'TLS handshakes that failed, by why: no_certificate, protocol, closed, timeout, other',
  labelNames: ['reason'],
})

const opened = new Set<() => readonly Shown[]>()
const all = (): Shown[] => [...opened].flatMap(of => of())

new Gauge({
  name: 'sluice_certificates',
  help: 'Names that are served, by the state of their certificate',
  labelNames: ['state'],
  collect() {
    const now = Date.now()
    const states = opened.size === 0 ? [] : STATES
    const counted = Map.groupBy(all(), shown => stateOf(shown, now))
    this.reset()
    for (const state of states) this.set({ state }, counted.get(state)?.length ?? 0)
  },
})

new Gauge({
  name: 'sluice_certificate_soonest_expiry_seconds',
  help: 'Seconds until the first certificate in service ends; below 0 once it has',
  labelNames: [],
  collect() {
    const ends = all().flatMap(({ not_after }) => (Number.isNaN(not_after) ? [] : [not_after]))
    this.reset()
    if (ends.length > 0) this.set((Math.min(...ends) - Date.now()) / 1000)
    else this.remove()
  },
})

/** Shows these until the returned function is called. */
export function show(of: () => readonly Shown[]): () => void {
  opened.add(of)
  return () => void opened.delete(of)
}
