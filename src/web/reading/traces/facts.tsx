/** The attributes of a click, and its persons. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { z } from 'zod'
import { SUBS } from '../../../contract/fields.ts'
import type { Trace, TracedClick } from '../../../reading/traces/api.ts'
import { listBots } from '../../../telegram/bots/api.ts'
import { listLandings } from '../../../traffic/landings/api.ts'
import { listOffers } from '../../../traffic/offers/api.ts'
import { ask } from '../../ground/call.ts'
import { useIsCharging } from '../../ground/charging.ts'
import type { CampaignNames } from '../../ground/campaign-name.tsx'
import { country, exactMoment, exactMoney, NONE } from '../../ground/figures/figures.ts'
import { inWords } from '../../ground/rungs.ts'
import { Section } from '../../ground/ui/page.tsx'
import { REASON_WORDS } from '../../traffic/campaigns/reasons.ts'
import { Rung } from '../feed/click-table.tsx'

/** The newest offers, landings and bots are shown by name, older ones by id. */
const MOST = 200

export function ClickFacts({ click, campaigns }: { click: z.input<typeof TracedClick>; campaigns: CampaignNames }) {
  const campaign = campaigns.find(({ id }) => id === click.campaign_id)
  const offers = useQuery(ask(listOffers, { query: { limit: MOST } })).data?.data
  const landings = useQuery(ask(listLandings, { query: { limit: MOST } })).data?.data
  const bots = useQuery({ ...ask(listBots, { query: { limit: MOST } }), enabled: click.bot_id !== null }).data?.data
  const bot = bots?.find(({ id }) => id === click.bot_id)
  const subs = SUBS.map(sub => [sub, click[sub]] as const)
  const facts: (readonly [string, ReactNode])[] = [
    ['Status', <Rung key="rung" status={click.status} />],
    ['Reached', click.stages.map(inWords).join(', ')],
    ['Revenue', click.revenue === null ? null : `$${exactMoney(click.revenue)}`],
    [
      'Campaign',
      campaign === undefined || campaign.is_deleted ? (
        campaign && `${campaign.name} (deleted)`
      ) : (
        <Link key="campaign" to="/campaigns/$id" params={{ id: campaign.id }} className="text-accent hover:underline">
          {campaign.name}
        </Link>
      ),
    ],
    ['Offer', offers?.find(({ id }) => id === click.offer_id)?.name ?? click.offer_id],
    ['Landing', landings?.find(({ id }) => id === click.landing_id)?.name ?? click.landing_id],
    ['Bot', bot === undefined ? click.bot_id : `@${bot.username}`],
    ['Way', click.way === 'page' ? 'Page' : 'Redirect'],
    ['Page', click.page],
    ['Left out', click.left_out === null ? null : `${click.left_out.field} = ${click.left_out.value}`],
    ['Not counted', click.untracked_reason === null ? null : REASON_WORDS[click.untracked_reason]],
    ['Country', click.geo === null ? null : country(click.geo)],
    ['Device', [click.device, click.os, click.browser].filter(part => part !== null).join(' · ')],
    ['Ad platform', [click.platform, ...click.ad_click_ids].filter(part => part !== null).join(' · ')],
    ['Source click id', click.ref_id],
    ...subs,
  ]
  return (
    <Section title="The click">
      <Facts facts={facts.filter(([, value]) => value !== null && value !== undefined && value !== '')} />
    </Section>
  )
}

type Person = z.input<typeof Trace>['persons'][number]

function chargeOf({ charge, charged_here, charged_at }: Person): (readonly [string, string])[] {
  if (charge === null) return [['Charged', 'not charged']]
  const charged = `$${exactMoney(charge)} ${charged_here ? 'by this click' : 'by an earlier click'}`
  return [['Charged', charged], ...(charged_at === null ? [] : [['When', exactMoment(charged_at)] as const])]
}

export function Persons({ trace }: { trace: z.input<typeof Trace> }) {
  const isCharging = useIsCharging()
  if (trace.persons.length === 0) return null
  return (
    <Section title={trace.persons.length === 1 ? 'The person' : 'Persons'}>
      {trace.persons.map(person => (
        <Facts
          key={person.id}
          facts={[['Telegram user', person.telegram_user_id ?? NONE], ...(isCharging ? chargeOf(person) : [])]}
        />
      ))}
    </Section>
  )
}

function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-x-3 gap-y-1.5 rounded-lg border border-line bg-surface px-3.5 py-3">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-faint">{name}</dt>
          <dd className="wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
