/** Keeps secrets out of the log of attempts. */
import type { Outgoing } from './lane.ts'

const REPLACEMENT = '[secret]'

/** Replaces the secrets in a text, also in percent-encoded and JSON-escaped form. */
export function redact(text: string, secrets: readonly string[] | undefined): string
export function redact(text: string | null, secrets: readonly string[] | undefined): string | null
export function redact(text: string | null, secrets: readonly string[] = []): string | null {
  if (text === null) return null
  const forms = secrets.flatMap(secret => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
  // An empty secret would match everywhere. The longest first, because one may contain another.
  const wanted = forms.filter(form => form !== '').sort((one, other) => other.length - one.length)
  return wanted.reduce((rest, form) => rest.replaceAll(form, REPLACEMENT), text)
}

/** The address and body of a call that the log stores. */
export function loggedCall({ url, shown, secrets }: Outgoing): { url: string; body: string | null } {
  return { url: redact(shown?.url ?? url, secrets), body: redact(shown?.body ?? null, secrets) }
}
