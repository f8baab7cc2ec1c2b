/** Keeps secrets out of the log of attempts. */
import type { Outgoing } from './lane.ts'

const STRUCK = '[secret]'

/** The text without the secrets, as they are, percent-encoded or escaped in JSON. */
export function redact(text: string, secrets: readonly string[] | undefined): string
export function redact(text: string | null, secrets: readonly string[] | undefined): string | null
export function redact(text: string | null, secrets: readonly string[] = []): string | null {
  if (text === null) return null
  const forms = secrets.flatMap(secret => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
  // A secret of no length would be found between all letters; the longest first, where one is part of another.
  const wanted = forms.filter(form => form !== '').sort((one, other) => other.length - one.length)
  return wanted.reduce((rest, form) => rest.replaceAll(form, STRUCK), text)
}

/** What the log keeps of a call before it is made. */
export function shownOf({ url, shown, secrets }: Outgoing): { url: string; body: string | null } {
  return { url: redact(shown?.url ?? url, secrets), body: redact(shown?.body ?? null, secrets) }
}
