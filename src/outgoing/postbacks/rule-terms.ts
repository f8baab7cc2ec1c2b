/** What a rule may say, and who may set it. */
import { refuse } from '../../contract/refusals.ts'
import type { Config } from '../../ground/config.ts'
import { isPrivateHost } from '../../ground/guard.ts'
import type * as api from './api.ts'

/** A key may not change `on`. */
export function requireOwnOn({ kind }: { readonly kind: 'key' | 'member' }, on: string, now: string): void {
  if (kind === 'key' && on !== now)
    refuse('api_key_resource_forbidden', {
      error: `on: a key cannot set it; the value is ${now}`,
      hint: 'Set it in the dashboard.',
    })
}

type RuleSubject = {
  readonly campaign_id?: string | null | undefined
  readonly traffic_source_id?: string | null | undefined
}

/** A rule has a campaign, a traffic source or neither. A key may not set a traffic source. */
export function requireOneSubject(
  { kind }: { readonly kind: 'key' | 'member' },
  { campaign_id, traffic_source_id }: RuleSubject,
): void {
  if (traffic_source_id == null) return
  if (kind === 'key')
    refuse('api_key_resource_forbidden', {
      error: 'traffic_source_id: a key cannot set it',
      hint: 'Create the rule in the dashboard.',
    })
  if (campaign_id != null)
    refuse('invalid_request', { error: 'campaign_id: a rule of a traffic source applies to all its campaigns' })
}

export function requireSameSubject(now: api.PostbackRule, { campaign_id, traffic_source_id }: RuleSubject): void {
  if (traffic_source_id !== undefined && traffic_source_id !== now.traffic_source_id)
    refuse('invalid_request', { error: 'traffic_source_id: it cannot be changed', hint: 'Create another rule.' })
  if (now.traffic_source_id !== null && campaign_id != null)
    refuse('invalid_request', { error: 'campaign_id: a rule of a traffic source applies to all its campaigns' })
}

/** Refuses addresses that are visibly private. Host names are checked when the worker connects. */
export function requirePublicAddress({ allowPrivateTargets }: Config, url: string): void {
  if (allowPrivateTargets || !isPrivateHost(new URL(url).hostname)) return
  refuse('invalid_request', {
    error: 'url: must lead to a public address',
    hint: 'Private addresses cannot be called.',
  })
}
