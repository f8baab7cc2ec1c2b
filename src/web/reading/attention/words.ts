/** The words of a line of attention: what is wrong, its consequence, the spend and revenue affected, and the link to fix it. */
import { type LinkOptions, linkOptions } from '@tanstack/react-router'
import type { z } from 'zod'
import { dayOf } from '../../../contract/days.ts'
import { type AttentionKind, type AttentionLine, URGENT_KINDS } from '../../../reading/attention/api.ts'
import { count, day, moment, money } from '../../ground/figures/figures.ts'
import { sentence } from '../../ground/ui/plain-words.ts'

export type Line = z.input<typeof AttentionLine>

type LineWords = {
  /** A sentence without its full stop. */
  readonly what: string
  readonly follows: string
  /** Absent where it is fixed outside of Sluice, or by itself. */
  readonly cure?: { readonly label: string; readonly link: LinkOptions }
}

/** Periodic jobs that the workspace notices; others are named as the log and the metrics name them. */
const JOBS: Readonly<Record<string, string>> = {
  'deliveries/postback': 'Sending postbacks',
  'deliveries/ad_account': 'Sending conversions to ad accounts',
}

const some = (number: number, one: string, many = `${one}s`): string => `${count(number)} ${number === 1 ? one : many}`

const because = (reason: string | null): string => (reason === null || reason === '' ? '' : ` ${sentence(reason)}`)

const toDomain = (id: string) => linkOptions({ to: '/settings/domains/$id', params: { id } })
const toBot = (id: string) => linkOptions({ to: '/bots/$id', params: { id } })
const toChannel = (id: string) => linkOptions({ to: '/channels/$id', params: { id } })
const toDeliveries = (target: string) => linkOptions({ to: '/deliveries', search: { target, state: 'failed' } })
const toBilling = linkOptions({ to: '/billing' })

type Words = (line: Line & { readonly id: string; readonly name: string }, now: number) => LineWords

const WORDS: Readonly<Record<AttentionKind, Words>> = {
  domain_failing: ({ id, name, count: campaigns }) => ({
    what: `${name} no longer points to Sluice`,
    follows: `Its links do not open. It has ${some(campaigns, 'campaign')}.`,
    cure: { label: 'Fix DNS or move campaigns', link: toDomain(id) },
  }),
  domain_flagged: ({ id, name, count: campaigns }) => ({
    what: `Google flagged ${name} as unsafe`,
    follows: `Browsers may warn visitors. It has ${some(campaigns, 'campaign')}.`,
    cure: { label: 'Move campaigns', link: toDomain(id) },
  }),
  domain_lost: ({ id, name }) => ({
    what: `${name} is lost`,
    follows: 'Links on it do not open.',
    cure: { label: 'Verify again or delete', link: toDomain(id) },
  }),
  certificate_missing: ({ id, name, reason }) => ({
    what: `${name} has no certificate, and https does not open`,
    follows: certificateAdvice(id, reason),
    ...(id === '' ? {} : { cure: { label: 'See what is missing', link: toDomain(id) } }),
  }),
  certificate_expiring: ({ id, name, until, reason }, now) => ({
    what:
      until !== null && Date.parse(until) <= now
        ? `The certificate of ${name} expired ${moment(until)}`
        : `The certificate of ${name} expires ${until === null ? 'soon' : moment(until)}`,
    follows: `It could not be renewed${until !== null && Date.parse(until) <= now ? ', and browsers warn visitors' : ''}. ${certificateAdvice(id, reason)}`,
    ...(id === '' ? {} : { cure: { label: 'See what is missing', link: toDomain(id) } }),
  }),
  balance_empty: ({ reason }) => ({
    what: 'The balance is below zero',
    follows: `It is $${money(reason ?? '0')}. Conversions are still recorded. If the workspace holds deliveries, they wait for a top-up.`,
    cure: { label: 'Top up', link: toBilling },
  }),
  balance_low: ({ reason }) => ({
    what: 'The balance is low',
    follows: `It is $${money(reason ?? '0')}.`,
    cure: { label: 'Top up', link: toBilling },
  }),
  ad_account_broken: ({ id, name, reason }) => ({
    what: `The ad account ${name} takes no conversions`,
    follows: `Conversions wait until you reconnect it.${because(reason)}`,
    cure: { label: 'Reconnect', link: linkOptions({ to: '/ad-accounts/$id', params: { id } }) },
  }),
  ad_account_failing: ({ id, name, count: failures }) => ({
    what: `Sending conversions to ${name} fails`,
    follows: `${some(failures, 'attempt')} in a row failed. Sluice keeps trying.`,
    cure: { label: 'See the failed deliveries', link: toDeliveries(id) },
  }),
  postback_off: ({ name, reason }) => ({
    what: `Postbacks to ${name} were switched off`,
    follows: `Conversions are not reported there.${because(reason)}`,
    cure: { label: 'Switch on', link: linkOptions({ to: '/postbacks' }) },
  }),
  postback_failing: ({ id, name, count: failures }) => ({
    what: `Postbacks to ${name} fail`,
    follows: `${some(failures, 'attempt')} in a row failed. Sluice keeps trying.`,
    cure: { label: 'See the failed deliveries', link: toDeliveries(id) },
  }),
  spend_unreadable: ({ id, name, reason }) => ({
    what: `The spend of ${name} cannot be read`,
    follows: `Cost and profit of its campaigns are incomplete.${because(reason)}`,
    cure: { label: 'Fix the account', link: linkOptions({ to: '/ad-spend/accounts/$id', params: { id } }) },
  }),
  calls_refused: ({ id, name, count: refused, reason }) => ({
    what: `${name === '' ? some(refused, 'conversion') : `${some(refused, 'postback')} from ${name}`} ${refused === 1 ? 'was' : 'were'} refused in the last 24 hours`,
    follows: `${refused === 1 ? 'The reason' : 'The most frequent reason'}: ${reason ?? ''}. Conversions may be missing.`,
    cure: {
      label: 'View and run again',
      link: linkOptions({ to: '/refused-events', search: { state: 'refused', ...(id !== '' && { network: id }) } }),
    },
  }),
  macros_unfilled: ({ id, name, count: clicks, since, reason }, now) => ({
    what: `${name}: the source does not fill in ${reason ?? ''}`,
    follows: `${some(clicks, 'click')} of today (UTC) came without it${since === null || dayOf(Date.parse(since)) === dayOf(now) ? '' : `; the first on ${day(since.slice(0, 10))}`}.`,
    cure: { label: 'Fix the campaign link', link: linkOptions({ to: '/campaigns/$id', params: { id } }) },
  }),
  bot_refused: ({ id, name }) => ({
    what: `Telegram refuses the token of ${name}`,
    follows: 'Its starts are not recorded, and it sends nothing.',
    cure: { label: 'Enter a new token', link: toBot(id) },
  }),
  bot_hook_lost: ({ id, name, reason }) => ({
    what: `${name} no longer reports to Sluice`,
    follows: `${reason === null ? 'Its webhook was removed' : `Its webhook leads to ${reason} now`}, so its starts are not recorded.`,
    cure: { label: 'Reset the webhook', link: toBot(id) },
  }),
  channel_lost: ({ id, name, reason }) => ({
    what: `${name}: no invite links can be made`,
    follows: reason === null ? 'The bot has lost its right to invite users.' : sentence(reason),
    cure: { label: 'Restore the right', link: toChannel(id) },
  }),
  channel_links_low: ({ id, name }) => ({
    what: `${name}: invite links run out`,
    follows: 'Visitors then share a link, so joins cannot be matched to clicks with certainty.',
    cure: { label: 'Increase the pool', link: toChannel(id) },
  }),
  broadcast_stopped: ({ id, name, count: left, reason }) => ({
    what: `The broadcast ${name} has stopped`,
    follows: `${some(left, 'recipient')} ${left === 1 ? 'has' : 'have'} not got it yet.${because(reason)}`,
    cure: { label: 'Resume', link: linkOptions({ to: '/broadcasts/$id', params: { id } }) },
  }),
  cap_reached: ({ id, name, object, until, reason }) => ({
    what: `The cap of ${name} is reached`,
    follows: `Visitors go to ${reason ?? 'the fallback'}${until === null ? '' : ` until ${moment(until)}`}.`,
    cure: {
      label: 'View the cap',
      link:
        object === 'offer'
          ? linkOptions({ to: '/offers', search: { q: name } })
          : linkOptions({ to: '/campaigns/$id', params: { id } }),
    },
  }),
  days_incomplete: ({ count: days, since }) => ({
    what: `Clicks of ${some(days, 'day')} are missing in the report`,
    follows: `${since === null ? '' : `The first day is ${day(since.slice(0, 10))}. `}Sluice recounts these days within some minutes.`,
  }),
  job_failing: ({ name }) => ({
    what: `${JOBS[name] ?? name} fails`,
    follows: 'Sluice keeps retrying. The reason is in the server’s log.',
  }),
}

function certificateAdvice(domain: string, reason: string | null): string {
  const advice = domain === '' ? ' Check that the name points to this server and that port 80 is open.' : ''
  return `${reason === null ? '' : `The reason: ${reason.replace(/\.$/, '')}.`}${advice}`.trim()
}

/** Whether a line is shown on every page. A domain without campaigns affects old links alone, so it is not urgent. */
export const isUrgent = ({ kind, count: campaigns }: Line): boolean =>
  URGENT_KINDS.has(kind) && !(kind.startsWith('domain_') && campaigns === 0)

/** The words of a line at the moment `now`. */
export const wordsOf = (line: Line, now: number): LineWords =>
  WORDS[line.kind]({ ...line, id: line.id ?? '', name: line.name ?? '' }, now)

/** The spend and revenue a day that a line affects; undefined where that is not known. */
export function worthOf({ spend_per_day: spend, revenue_per_day: revenue }: Line): string | undefined {
  const isAny = (amount: string | null): amount is string => amount !== null && Number(amount) > 0
  const parts = [
    ...(isAny(spend) ? [`spends $${money(spend)}`] : []),
    ...(isAny(revenue) ? [`earns $${money(revenue)}`] : []),
  ]
  return parts.length === 0 ? undefined : `${parts.join(', ')} a day`
}
