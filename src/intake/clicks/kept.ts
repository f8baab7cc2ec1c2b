/** Whose clicks are in the journal: a conversion of one that is unknown is told to come again while its click may be among them. */

type KeptOrganizations = {
  /** Before their clicks are written. */
  add(org_ids: Iterable<number>): void
  /** The journal is being read from its beginning. */
  begin(): void
  /** All that was there at the beginning is stored, or was kept anew; false: some of it was not read. */
  end(isRead: boolean): void
  /** Whether all of them are such. */
  isOnly(are: (org_id: number) => boolean): boolean
  /** As of now. */
  isKept(): (org_id: number) => boolean
}

/** `isAnyones`: there is something in the journal from the start, and nobody knows whose. */
export function openKept(isAnyones: boolean): KeptOrganizations {
  let isUnknown = isAnyones
  let reading: ReadonlySet<number> = new Set()
  let kept = new Set<number>()
  return {
    add(org_ids) {
      for (const org_id of org_ids) kept.add(org_id)
    },
    begin() {
      reading = kept
      kept = new Set()
    },
    end(isRead) {
      if (isRead) isUnknown = false
      else kept = new Set([...reading, ...kept])
      reading = new Set()
    },
    isOnly: are => !isUnknown && [...reading, ...kept].every(are),
    isKept() {
      const [all, sets] = [isUnknown, [reading, kept]]
      return org_id => all || sets.some(set => set.has(org_id))
    },
  }
}
