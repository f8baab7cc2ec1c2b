/** Puts the house together: running parts, rooms and gate. Only this file knows all of them. */
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import sluice from '../package.json' with { type: 'json' }
import { Refusal, refuse } from './contract/refusals.ts'
import type { Domains } from './gate/domain.ts'
import { openGate } from './gate/gate.ts'
import { openOnce } from './gate/once.ts'
import { servePages } from './gate/pages.ts'
import { stillAllowed } from './gate/permit.ts'
import { openQuotas, type QuotaName, type Quotas } from './gate/quota.ts'
import { openPublicServers, type PublicServers } from './gate/public-servers.ts'
import { openRedis } from './gate/redis.ts'
import type { RefusedIntake } from './gate/refused-intake.ts'
import type { Config } from './ground/config.ts'
import type { Database } from './ground/db/connect.ts'
import { openSecrets } from './ground/db/secrets.ts'
import { type Declared, type Ground, type Person, room, type Visit } from './ground/room.ts'
import * as clicksApi from './intake/clicks/api.ts'
import { clickDeeds, openClicks, type Patience } from './intake/clicks/clicks.ts'
import { openIpErasure } from './intake/clicks/ip-erasure.ts'
import { openClickRetention } from './intake/clicks/retention.ts'
import * as eventsApi from './intake/events/api.ts'
import { openConversions } from './intake/events/conversions.ts'
import { eventDeeds } from './intake/events/events.ts'
import { openHolds } from './intake/events/holds.ts'
import * as networksApi from './intake/networks/api.ts'
import { openNetworks } from './intake/networks/open.ts'
import * as onwardApi from './intake/onward/api.ts'
import { openLanded } from './intake/onward/landed.ts'
import { onwardDeeds } from './intake/onward/onward.ts'
import * as refusedEventsApi from './intake/refused-events/api.ts'
import { openKeeper } from './intake/refused-events/keep.ts'
import { refusedEventDeeds } from './intake/refused-events/refused-events.ts'
import { openRefusedRetention } from './intake/refused-events/retention.ts'
import * as revisionsApi from './intake/revisions/api.ts'
import { revisionDeeds } from './intake/revisions/revisions.ts'
import { type Listener, type OpenListeners, openListeners } from './listen.ts'
import { serveTools } from './mcp/mcp.ts'
import { openLowBalanceWatch } from './money/billing/low-balance.ts'
import { openRateFetch } from './money/rates/fetch.ts'
import { openLiveRates } from './money/rates/live.ts'
import { sourceOrder } from './money/rates/rate-of-day.ts'
import { openSpendSync } from './money/spend-accounts/worker.ts'
import { adAccountLane } from './outgoing/ad-accounts/lane.ts'
import * as deliveriesApi from './outgoing/deliveries/api.ts'
import * as deliveries from './outgoing/deliveries/deliveries.ts'
import type { Lane } from './outgoing/deliveries/lane.ts'
import * as resend from './outgoing/deliveries/resend.ts'
import { openResend } from './outgoing/deliveries/resend.ts'
import { openAttemptRetention } from './outgoing/deliveries/retention.ts'
import * as runs from './outgoing/deliveries/runs.ts'
import { openDeliveryWorker } from './outgoing/deliveries/worker.ts'
import { postbackLane } from './outgoing/postbacks/lane.ts'
import { openAttempts } from './people/accounts/attempts.ts'
import { openKeyUses } from './people/keys/uses.ts'
import { openKeyReader } from './people/keys/verify.ts'
import { activeMembershipOf } from './people/organizations/active-membership.ts'
import * as signInApi from './people/sign-in/api.ts'
import { openSignIn } from './people/sign-in/sign-in.ts'
import * as exploreApi from './reading/explore/api.ts'
import { type ExploreLimits, exploreDeeds } from './reading/explore/explore.ts'
import { openExplorer } from './reading/explore/open.ts'
import { openFailingRounds } from './reading/failing-rounds/failing-rounds.ts'
import { openSlotChecks } from './reading/reports/complete-slots.ts'
import { openFolder } from './reading/reports/fold.ts'
import { openEventFolder } from './reading/reports/fold-events.ts'
import { openKeeping } from './reading/segments/keeping.ts'
import { openWaitingWatch } from './reading/segments/waiting.ts'
import { organizationsRoom, plainRooms, probes } from './rooms.ts'
import type { SendTerms } from './telegram/broadcasts/terms.ts'
import { openTelegram, openTelegramRounds } from './telegram/telegram.ts'
import { openLiveCampaigns } from './traffic/campaigns/live.ts'
import { openCapNotices } from './traffic/caps/notices.ts'
import { openCertificateFiles } from './traffic/certificates/files.ts'
import { openLiveCertificates } from './traffic/certificates/live.ts'
import { openCertificateWorker } from './traffic/certificates/worker.ts'
import * as domainsApi from './traffic/domains/api.ts'
import { checkSoon, openDomainChecks } from './traffic/domains/checker.ts'
import { openDomainNotices } from './traffic/domains/notices.ts'
import { openDomains } from './traffic/domains/open.ts'
import { openReputation } from './traffic/domains/reputation.ts'

export type House = {
  /** The server, for calls without a socket. */
  readonly app: FastifyInstance
  /** Every endpoint. */
  readonly furnished: readonly Declared[]
  readonly ground: Ground
  /** The servers of TLS=auto and TLS=files. */
  readonly publicServers: PublicServers | undefined
  /** Opens the sockets and returns the address that people open. @throws StartError when a socket cannot be opened. */
  listen(): Promise<string>
  /** Accepts no new requests and finishes those in flight. The database stays open; its owner closes it. */
  close(): Promise<void>
}

/** Settings that only tests and the bench change. */
export type HouseOptions = {
  quotas?: Partial<Record<QuotaName, number>>
  budget_ms?: number
  explore?: Partial<ExploreLimits>
  link_pause_ms?: number
  patience?: Patience
  sending?: Partial<SendTerms>
}

/** Opens everything on a migrated database. If a part fails to open, the parts before it are closed again. */
export async function openHouse(
  config: Config,
  database: Database,
  log: Logger,
  options: HouseOptions = {},
): Promise<House> {
  const db = database.kysely
  const secrets = await openSecrets(config, db)
  const ground: Ground = { config, database, db, log, secrets }
  const lanes: readonly Lane[] = [postbackLane, adAccountLane(ground)]
  const running = new AsyncDisposableStack()
  try {
    openBackgroundWork(ground, lanes, options, running)
    const certificates = await openCertificates(ground, running)
    const isCertified = (name: string) => certificates?.live.serves(name) === true
    const { app, furnished } = await openFront(ground, lanes, { ...options, isCertified }, running)
    running.defer(() => app.close())
    const publicServers =
      certificates === undefined || config.role === 'work'
        ? undefined
        : into(running)(await openPublicServers(app, ground, certificates.live))
    let listeners: OpenListeners | undefined
    return {
      app,
      furnished,
      ground,
      publicServers,
      async listen() {
        listeners = await openListeners(
          app,
          config,
          log,
          publicServers === undefined ? [] : listenersOf(publicServers, config),
        )
        // Certificates are ordered only once the sockets are open, because the authority first sends a request to them.
        if (config.tls === 'auto' && config.role !== 'serve')
          into(running)(openCertificateWorker(ground, certificates?.files, name => checkSoon(ground, name)))
        return listeners.address
      },
      async close() {
        await listeners?.close()
        await running.disposeAsync()
      },
    }
  } catch (error) {
    await running.disposeAsync()
    throw error
  }
}

/** Opens the periodic jobs and workers. Unless ROLE is `serve`, these include deliveries, erasure, notices and reading spend. */
function openBackgroundWork(
  ground: Ground,
  lanes: readonly Lane[],
  options: HouseOptions,
  running: AsyncDisposableStack,
): void {
  const take = into(running)
  take(openFailingRounds(ground))
  take(openFolder(ground))
  take(openEventFolder(ground))
  take(openSlotChecks(ground))
  take(openRefusedRetention(ground))
  if (ground.config.role === 'serve') return
  take(openDeliveryWorker(ground, lanes))
  take(openIpErasure(ground))
  take(openAttemptRetention(ground))
  take(openKeeping(ground))
  take(openWaitingWatch(ground))
  take(openClickRetention(ground))
  take(openLowBalanceWatch(ground))
  take(openRateFetch(ground))
  take(openCapNotices(ground))
  take(openDomainChecks(ground))
  take(openDomainNotices(ground))
  take(openReputation(ground))
  take(openSpendSync(ground))
  for (const round of openTelegramRounds(ground, options)) take(round)
}

/** Opens the certificates for HTTPS. Undefined with TLS=off. */
async function openCertificates(ground: Ground, running: AsyncDisposableStack) {
  if (ground.config.tls === 'off') return undefined
  const take = into(running)
  const files = await openCertificateFiles(ground)
  if (files !== undefined) take(files)
  return { files, live: take(await openLiveCertificates(ground, files)) }
}

const listenersOf = ({ http, https }: PublicServers, { httpPort, httpsPort, tlsHost: host }: Config): Listener[] => [
  { name: 'http', server: http, port: httpPort, host, setting: 'HTTP_PORT' },
  { name: 'https', server: https, port: httpsPort, host, setting: 'HTTPS_PORT' },
]

/** Registers a running part, so that it is closed with the house, before the parts that it uses. */
const into =
  (running: AsyncDisposableStack) =>
  <T extends { close(): unknown }>(part: T): T =>
    running.adopt(part, async () => void (await part.close()))

type FrontOptions = HouseOptions & Pick<Domains, 'isCertified'>

/** Opens the gate and the parts that its rooms use. With ROLE=work only the health and metrics endpoints are served. */
async function openFront(ground: Ground, lanes: readonly Lane[], options: FrontOptions, running: AsyncDisposableStack) {
  const take = into(running)
  const { config, database, db, log } = ground
  const redis = config.redisUrl === undefined ? undefined : openRedis(config.redisUrl, log)
  running.defer(() => redis?.disconnect())
  const domains = take(await openDomains(ground))
  const live = take(await openLiveCampaigns(ground))
  const rates = take(await openLiveRates(ground))
  const clicks = take(await openClicks(ground, live, rates.usdPerUnit, options.patience))
  const conversions = take(
    openConversions(ground, { stillAllowed, unsettled: clicks.unsettled, rateOrder: sourceOrder(config) }),
  )
  if (config.role !== 'serve') take(openHolds(ground, conversions))
  const landed = take(openLanded({ conversions, clicks, log }))
  const quotas = openQuotas(redis, options.quotas)
  const keeper = take(openKeeper(ground))
  const mayRecord = (org_id: number) => isWithin(quotas, org_id)
  const spend = (network: string) => quotas.spend('launches', network, { header: () => undefined })
  const networks = take(openNetworks(ground, { conversions, keeper, mayRecord }))
  const telegram = take(await openTelegram(ground, { live, conversions, clicks, spend }))
  const attempts = openAttempts()
  const signIn = take(openSignIn(ground, attempts))
  const explorer = take(openExplorer(ground, options.explore))
  const uses = take(openKeyUses(database.worker, log))
  const furnished = [
    ...room(signInApi, signIn.deeds),
    ...room(deliveriesApi, { ...deliveries, ...resend, ...runs, resendDeliveries: openResend(lanes) }),
    ...room(clicksApi, clickDeeds(clicks)),
    ...room(eventsApi, eventDeeds(conversions)),
    ...room(revisionsApi, revisionDeeds(conversions)),
    ...room(domainsApi, domains.deeds),
    ...telegram.furnished,
    ...room(onwardApi, onwardDeeds({ live, clicks, landed })),
    ...room(networksApi, networks.deeds),
    ...room(refusedEventsApi, refusedEventDeeds({ conversions, readCallAgain: networks.readCallAgain })),
    ...room(exploreApi, exploreDeeds(explorer)),
    ...organizationsRoom(attempts),
    ...plainRooms,
  ]
  const identities = { verifyKey: keyVerifier(database, uses), whoIs: signIn.whoIs }
  const memberships = { activeMembershipOf: (person: Person) => activeMembershipOf(db, person) }
  const once = openOnce(redis, options.budget_ms)
  const onRefusedIntake = (refused: RefusedIntake) => void keeper.keep(refused)
  const gateParts = { ground, identities, memberships, quotas, once, onRefusedIntake }
  if (config.role === 'work') {
    const app = openGate(gateParts, probes)
    app.setNotFoundHandler(async () => refuse('route_not_found'))
    return { app, furnished: probes }
  }
  const keyOf = (campaign_id: string) => live.campaign(campaign_id)?.key
  const open = (visit: Visit) => clicks.visit(ground, visit)
  const { find, noteVisit } = domains
  const { isCertified } = options
  const app = openGate({ ...gateParts, domains: { find, noteVisit, open, keyOf, isCertified } }, furnished)
  const declared = [...furnished, serveTools(app, { ground, identities }, sluice.version)]
  await servePages(app, declared, identities, sluice.version)
  return { app, furnished: declared }
}

/** Reads a key and records its use. */
function keyVerifier({ keys }: Database, uses: ReturnType<typeof openKeyUses>) {
  const reader = openKeyReader(keys)
  return async (secret: string) => {
    const record = await reader.verify(secret)
    if (record?.accepted) uses.note({ id: record.key_id })
    return record
  }
}

/** Counts a network's call against the events quota. False when the quota is used up or cannot be counted; the call is then stored. */
async function isWithin(quotas: Quotas, org_id: number): Promise<boolean> {
  try {
    await quotas.spend('events', org_id, { header: () => undefined })
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}
