/** Which organizations have clicks in the journal. A conversion of an unknown click is answered 503 while its click may be there. */

type KeptOrganizations = {
  /** Call it before their clicks are written. */
  add(org_ids: Iterable<number>): void
  /** A replay of the journal starts from its beginning. */
  begin(): void
  /** The replay ended. `isRead`: every click that was there at its start is stored or was written to the journal again. */
  end(isRead: boolean): void
  /** Whether the journal has clicks only of organizations for which `are` is true. */
  isOnly(are: (org_id: number) => boolean): boolean
  /** Returns a snapshot: whether clicks of an organization may be in the journal. */
  isKept(): (org_id: number) => boolean
}

/** `isUnknownAtStart`: the journal already has clicks, of organizations not known yet. */
export function openKept(isUnknownAtStart: boolean): KeptOrganizations {
  let isUnknown = isUnknownAtStart
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
