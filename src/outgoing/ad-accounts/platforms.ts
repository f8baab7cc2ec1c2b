/** Joins an account with its platform's adapter: from a conversion to the call that tells it, complete with what the answer means. */

import type { AdPlatform } from '../../contract/ad-platforms.ts'
import type { Config } from '../../ground/config.ts'
import type { CallAnswer, Judgement, Outgoing } from '../deliveries/lane.ts'
import type { Conversion, MappedEvent, RenderedEvent } from './adapter.ts'
import type { EventMap, GoogleSettings, MetaSettings, TikTokSettings } from './api.ts'
import { googleCall, judgeGoogle, renderGoogle } from './google.ts'
import type { GoogleTokens } from './google-token.ts'
import { metaCall, judgeMeta, renderMeta } from './meta.ts'
import { tiktokCall, judgeTikTok, renderTikTok } from './tiktok.ts'

/** An account as its adapter needs it. */
export type Account = { readonly event_map: EventMap } & (
  | { readonly platform: 'meta'; readonly settings: MetaSettings }
  | { readonly platform: 'tiktok'; readonly settings: TikTokSettings }
  | { readonly platform: 'google'; readonly settings: GoogleSettings }
)

/** How the platforms are reached. */
export type Ways = {
  readonly config: Pick<Config, 'metaGraphBase' | 'metaGraphVersion' | 'tiktokApiBase' | 'googleDmBase'>
  readonly tokens: GoogleTokens
  /** Is told every judgement before the worker is, and passes it on. */
  readonly heard?: (judged: Judgement) => Judgement
}

/** A test event, with the code that Meta and TikTok show it under. */
type Test = { readonly test_event_code?: string | undefined }

/**
 * The call that tells a conversion, or why it is not told. `credential` is open; it and the person's address are struck out of whatever
 * is kept of the call.
 */
export function callFor(
  account: Account,
  credential: string,
  conversion: Conversion,
  ways: Ways,
  now: number,
  test?: Test,
): { readonly call: Outgoing } | { readonly skip: string } {
  const mapped = account.event_map[conversion.type]
  if (mapped === undefined) return { skip: `the event map of the account does not send ${conversion.type}` }
  const rendered = render(account, mapped, conversion, now)
  if ('skip' in rendered) return rendered
  const call = composed(account, mapped, credential, rendered.event, ways, test)
  const { ip } = conversion.click
  return { call: ip === null ? call : { ...call, secrets: [...(call.secrets ?? []), ip] } }
}

function render(account: Account, mapped: MappedEvent, conversion: Conversion, now: number): RenderedEvent {
  if (account.platform === 'meta') return renderMeta(account.settings, mapped, conversion, now)
  if (account.platform === 'tiktok') return renderTikTok(account.settings, mapped, conversion, now)
  return renderGoogle(account.settings, conversion, now)
}

const JUDGES: Readonly<Record<AdPlatform, (answer: CallAnswer) => Judgement>> = {
  meta: judgeMeta,
  tiktok: judgeTikTok,
  google: judgeGoogle,
}

type Event = Readonly<Record<string, unknown>>

function composed(
  account: Account,
  mapped: MappedEvent,
  credential: string,
  event: Event,
  { config, tokens, heard = judged => judged }: Ways,
  test: Test | undefined,
): Outgoing {
  const judge = (answer: CallAnswer) => heard(JUDGES[account.platform](answer))
  const { test_event_code } = test ?? {}
  if (account.platform === 'meta') {
    const { metaGraphBase: base, metaGraphVersion: version } = config
    return { ...metaCall(account.settings, event, { base, version, token: credential, test_event_code }), judge }
  }
  if (account.platform === 'tiktok')
    return {
      ...tiktokCall(account.settings, event, { base: config.tiktokApiBase, token: credential, test_event_code }),
      judge,
    }
  const { settings } = account
  const callWith = (access_token: string) =>
    googleCall(settings, mapped, event, { base: config.googleDmBase, access_token, is_test: test !== undefined })
  return {
    // What the log shows is written before the token is there.
    ...callWith(''),
    secrets: [],
    async complete(fetch) {
      const token = await tokens.tokenFor(credential, fetch)
      if (typeof token !== 'string') return heard(token)
      return {
        ...callWith(token),
        judge(answer) {
          if (answer.status === 401) tokens.forget(credential)
          return judge(answer)
        },
      }
    },
  }
}
