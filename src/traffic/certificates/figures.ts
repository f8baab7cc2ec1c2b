/** What operators watch of certificates: in `/metrics`, of this process. */
import { Counter, Gauge } from 'prom-client'
import { endIsNear, type Validity } from './renewal.ts'

/** A name's certificate. Without one its times are NaN. */
export type Shown = Validity & { readonly is_main: boolean; readonly has_failed: boolean }

const STATES = ['active', 'not_renewed', 'ending', 'ended', 'waiting', 'failing'] as const
type State = (typeof STATES)[number]

/** `not_renewed`: it is in service and the last try to renew it failed; `ending`: the same, near its expiry; `failing`: there is none, and the last try failed. */
function stateOf(shown: Shown, now: number): State {
  if (Number.isNaN(shown.not_after)) return shown.has_failed ? 'failing' : 'waiting'
  if (shown.not_after <= now) return 'ended'
  if (endIsNear(shown) <= now) return 'ending'
  return shown.has_failed ? 'not_renewed' : 'active'
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

showSoonest('sluice_certificate_soonest_expiry_seconds', 'the first certificate in service', () => true)
showSoonest('sluice_certificate_main_expiry_seconds', "the main host's first certificate in service", of => of.is_main)

function showSoonest(name: string, what: string, isCounted: (shown: Shown) => boolean): void {
  new Gauge({
    name,
    help: `Seconds until ${what} expires; below 0 once it has`,
    labelNames: [],
    collect() {
      const ends = all().filter(shown => isCounted(shown) && !Number.isNaN(shown.not_after))
      if (ends.length > 0) this.set((Math.min(...ends.map(shown => shown.not_after)) - Date.now()) / 1000)
      else this.remove()
    },
  })
}

/** Shows these until the returned function is called. */
export function show(of: () => readonly Shown[]): () => void {
  opened.add(of)
  return () => void opened.delete(of)
}
