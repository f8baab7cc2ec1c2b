/** The metrics of domains in `/metrics`, from the memory of this process. */
import { Gauge } from 'prom-client'
import { DOMAIN_STATUSES, type DomainStatus } from './api.ts'

export type CountedDomain = { readonly id: string; readonly status: DomainStatus; readonly is_deleted: boolean }

const openCountings = new Set<Map<string, DomainStatus>>()

new Gauge({
  name: 'sluice_domains',
  help: 'Domains of all organizations, by status: pending, active, failing, lost',
  labelNames: ['status'],
  collect() {
    for (const status of DOMAIN_STATUSES) this.set({ status }, 0)
    for (const statuses of openCountings) for (const status of statuses.values()) this.inc({ status })
  },
})

/** Counts domains until it is closed. */
export function openCounts() {
  const statuses = new Map<string, DomainStatus>()
  openCountings.add(statuses)
  return {
    /** Updates the given domains; `isAll` means that there are no others. */
    note(domains: readonly CountedDomain[], isAll: boolean): void {
      if (isAll) statuses.clear()
      for (const { id, status, is_deleted } of domains) {
        if (is_deleted) statuses.delete(id)
        else statuses.set(id, status)
      }
    },
    close: () => void openCountings.delete(statuses),
  }
}
