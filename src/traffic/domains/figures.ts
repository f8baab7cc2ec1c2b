/** What operators watch of domains: in `/metrics`, by what each process has in memory. */
import { Gauge } from 'prom-client'
import { DOMAIN_STATUSES, type DomainStatus } from './api.ts'

export type Counted = { readonly id: string; readonly status: DomainStatus; readonly is_deleted: boolean }

const opened = new Set<Map<string, DomainStatus>>()

new Gauge({
  name: 'sluice_domains',
  help: 'Domains of all organizations, by status: pending, active, failing, lost',
  labelNames: ['status'],
  collect() {
    for (const status of DOMAIN_STATUSES) this.set({ status }, 0)
    for (const statuses of opened) for (const status of statuses.values()) this.inc({ status })
  },
})

/** Counts the domains it is told of until it is closed. */
export function openCounts() {
  const statuses = new Map<string, DomainStatus>()
  opened.add(statuses)
  return {
    /** Domains as they are now; `isAll`: there are no others. */
    note(domains: readonly Counted[], isAll: boolean): void {
      if (isAll) statuses.clear()
      for (const { id, status, is_deleted } of domains) {
        if (is_deleted) statuses.delete(id)
        else statuses.set(id, status)
      }
    },
    close: () => void opened.delete(statuses),
  }
}
