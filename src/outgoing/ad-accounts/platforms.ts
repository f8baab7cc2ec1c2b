/**
 * The adapters of all ad platforms, and the call that reports a conversion to an account's platform. What differs between platforms is in their
 * adapters; what is the same for all of them is here.
 */
import type { AdPlatform } from '../../contract/ad-platforms.ts'
import type { Judgement, Outgoing } from '../deliveries/lane.ts'
import type { Adapter, ConversionToSend, PlatformAccess, TestCode } from './adapter.ts'
import type { EventMap, GoogleSettings, MetaSettings, TikTokSettings } from './api.ts'
import { googleAdapter } from './google.ts'
import { metaAdapter } from './meta.ts'
import { tiktokAdapter } from './tiktok.ts'

type Settings = { readonly meta: MetaSettings; readonly tiktok: TikTokSettings; readonly google: GoogleSettings }

const ADAPTERS: { readonly [P in AdPlatform]: Adapter<Settings[P]> } = {
  meta: metaAdapter,
  tiktok: tiktokAdapter,
  google: googleAdapter,
}

/** An account as its adapter needs it. */
export type ReportingAccount = { readonly event_map: EventMap } & {
  [P in AdPlatform]: { readonly platform: P; readonly settings: Settings[P] }
}[AdPlatform]

/** What an adapter says of its platform, without its settings. */
export const adapterOf = (platform: AdPlatform): Omit<Adapter<never>, 'render' | 'call'> => ADAPTERS[platform]

/** The adapter of an account, bound to its settings: TypeScript does not see by itself that platform and settings belong together. */
const bound = ({ platform, settings }: ReportingAccount) => ({
  adapter: ADAPTERS[platform] as Adapter<unknown>,
  settings,
})

type ReportingTerms = {
  readonly access: PlatformAccess
  /** Unix ms; decides whether the conversion is too old. */
  readonly now: number
  /** Sends a test event instead of a real one. */
  readonly test?: TestCode
  /** Sees every judgement before the worker does. */
  readonly onJudgement?: (judgement: Judgement) => void
}

/**
 * The call that reports a conversion, or why it is not reported. `credential` is decrypted; it and the visitor's IP address are removed from
 * whatever the log stores of the call.
 */
export function reportingCall(
  account: ReportingAccount,
  credential: string,
  conversion: ConversionToSend,
  { access, now, test, onJudgement = () => {} }: ReportingTerms,
): { readonly call: Outgoing } | { readonly skip: string } {
  const mapped = account.event_map[conversion.type]
  if (mapped === undefined) return { skip: `the event map of the account does not send ${conversion.type}` }
  const { adapter, settings } = bound(account)
  const rendered = adapter.render(settings, mapped, conversion, now)
  if ('skip' in rendered) return rendered
  const call = observed(
    adapter.call({ settings, mapped, event: rendered.event, credential, access, test }),
    onJudgement,
  )
  const { ip } = conversion.click
  return { call: ip === null ? call : { ...call, secrets: [...(call.secrets ?? []), ip] } }
}

/** The call with `onJudgement` told of each judgement, whether of an answer or of a call that could not be completed. */
function observed(call: Outgoing, onJudgement: (judgement: Judgement) => void): Outgoing {
  return {
    ...call,
    ...(call.judge !== undefined && {
      judge(answer) {
        const judgement = call.judge?.(answer)
        if (judgement !== undefined) onJudgement(judgement)
        return judgement
      },
    }),
    ...(call.complete !== undefined && {
      async complete(fetch) {
        const ready = (await call.complete?.(fetch)) ?? call
        if (!('outcome' in ready)) return observed(ready, onJudgement)
        onJudgement(ready)
        return ready
      },
    }),
  }
}
