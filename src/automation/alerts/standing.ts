/**
 * Alerts about what needs attention now, from the causes of the list *Needs attention*. Owns no table. An episode begins with its cause and is over
 * once the cause is gone.
 */
import type { AlertKind } from '../../contract/alerts.ts'
import { toWireId } from '../../contract/ids.ts'
import type { Ground } from '../../ground/room.ts'
import { findCauses } from '../../reading/attention/attention.ts'
import type { Cause } from '../../reading/attention/causes.ts'
import { unicodeName } from '../../traffic/domains/name.ts'
import type { Alert } from './tell.ts'

type StandingAlert = { readonly kind: AlertKind; readonly object: string; readonly url: string; readonly text: string }

const times = (count: number): string => (count === 1 ? 'once' : `${count} times in a row`)
const reasonOf = ({ reason }: Cause): string => (reason === null ? '' : `: ${reason}`)
const page = (list: string, { id }: Cause): string => (id === null ? `/${list}` : `/${list}/${toWireId(id)}`)

/** The causes that are told, in words. */
const TOLD: Partial<Record<Cause['kind'], (cause: Cause) => StandingAlert>> = {
  postback_failing: ({ name, count }) => ({
    kind: 'delivery_failing',
    object: 'postback',
    url: '/postbacks',
    text: `The postback to ${name} has failed ${times(count)}.`,
  }),
  postback_off: cause => ({
    kind: 'delivery_failing',
    object: 'postback',
    url: '/postbacks',
    text: `Sluice has switched off the postback to ${cause.name}${reasonOf(cause)}.`,
  }),
  ad_account_failing: cause => ({
    kind: 'ad_account_failing',
    object: 'ad_account',
    url: page('ad-accounts', cause),
    text: `Deliveries to the ad account “${cause.name}” have failed ${times(cause.count)}.`,
  }),
  ad_account_broken: cause => ({
    kind: 'ad_account_failing',
    object: 'ad_account',
    url: page('ad-accounts', cause),
    text: `The ad platform refuses the account “${cause.name}”${reasonOf(cause)}.`,
  }),
  domain_flagged: cause => ({
    kind: 'domain_flagged',
    object: 'domain',
    url: '/domains',
    text: `Browsers warn of the domain ${unicodeName(cause.name ?? '')}.`,
  }),
  certificate_missing: ({ name, reason }) => ({
    kind: 'certificate_due',
    object: 'domain',
    url: '/domains',
    text: `There is no certificate for ${name}${reason === null ? '' : `: ${reason}`}.`,
  }),
  certificate_expiring: ({ name, until }) => ({
    kind: 'certificate_due',
    object: 'domain',
    url: '/domains',
    text: `The certificate of ${name} expires on ${(until ?? '').slice(0, 10)} and could not be renewed.`,
  }),
  cap_reached: cause => ({
    kind: 'cap_reached',
    object: cause.object ?? 'offer',
    url: cause.object === 'campaign' ? page('campaigns', cause) : '/offers',
    text: `The ${cause.object} “${cause.name}” has reached its cap of ${cause.count}.`,
  }),
  macros_unfilled: cause => ({
    kind: 'macros_unfilled',
    object: 'campaign',
    url: page('campaigns', cause),
    text: `${cause.count} clicks of “${cause.name}” came today with macros that the source has not filled${reasonOf(cause)}.`,
  }),
  balance_low: cause => balance(cause, 'is low'),
  balance_empty: cause => balance(cause, 'is used up'),
}

const balance = ({ reason }: Cause, words: string): StandingAlert => ({
  kind: 'balance_low',
  object: 'billing',
  url: '/billing',
  text: `The balance ${words}: $${reason}.`,
})

/** The kinds that are told about causes, and are over without one. */
export const STANDING_KINDS: readonly AlertKind[] = [
  'delivery_failing',
  'ad_account_failing',
  'domain_flagged',
  'certificate_due',
  'cap_reached',
  'macros_unfilled',
  'balance_low',
]

/** The alerts that hold now. */
export async function findStanding(
  { database, db, config }: Pick<Ground, 'database' | 'db' | 'config'>,
  org_id: number,
  now: number,
): Promise<Alert[]> {
  const causes = await findCauses({ database, db, config, actor: { org_id, role: 'admin' } }, now)
  return causes.flatMap(cause => {
    const told = TOLD[cause.kind]?.(cause)
    if (told === undefined) return []
    const { kind, object, url, text } = told
    const { id, name, count } = cause
    return {
      kind,
      phase: 'begins' as const,
      episode_key: `${kind} ${object} ${id ?? name ?? ''}`,
      object: { kind: object, id, name },
      rule: null,
      ...(kind === 'macros_unfilled' ? { figure: String(count) } : {}),
      text,
      figures: kind === 'balance_low' ? { balance: cause.reason } : { count },
      url,
      at: new Date(now).toISOString(),
    }
  })
}
