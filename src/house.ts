/** Puts the house together: the wings' running parts and rooms, and the gate. Only this file knows all of them. */
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import sluice from '../package.json' with { type: 'json' }
import {
  AUTOMATION_JOBS,
  automationRooms,
  openRuleRounds,
  openWeightRounds,
  type OwnTools,
} from './automation/automation.ts'
import { openBackups } from './backup/dashboard.ts'
import { Refusal, refuse } from './contract/refusals.ts'
import type { Domains } from './gate/domain.ts'
import { openGate } from './gate/gate.ts'
import { openOnce } from './gate/once.ts'
import { servePages } from './gate/pages.ts'
import { stillAllowed } from './gate/permit.ts'
import { openPublicServers, type PublicServers } from './gate/public-servers.ts'
import { openQuotas, type CountedQuota, type Quotas } from './gate/quota.ts'
import { openRedis } from './gate/redis.ts'
import type { RefusedIntake } from './gate/refused-intake.ts'
import type { Config } from './ground/config.ts'
import type { Database } from './ground/db/connect.ts'
import { openSecrets } from './ground/db/secrets.ts'
import { keepHistoryMonths, openHistoryRetention } from './ground/history/retention.ts'
import { type Declared, type Ground, room, type Visit } from './ground/room.ts'
import { into, type TakePart } from './ground/running.ts'
import { INTAKE_JOBS, INTAKE_JOBS_OF_EVERY_PROCESS, type IntakeOptions, openIntake } from './intake/intake.ts'
import { type Listener, type OpenListeners, openListeners } from './listen.ts'
import { serveTools } from './mcp/mcp.ts'
import { MONEY_JOBS, moneyRooms } from './money/money.ts'
import { openLiveRates } from './money/rates/live.ts'
import type { Lane } from './outgoing/deliveries/lane.ts'
import { lanesOf, outgoingJobs, outgoingRooms } from './outgoing/outgoing.ts'
import * as bulkApi from './people/bulk/api.ts'
import { bulkDeeds } from './people/bulk/bulk.ts'
import { openHistory } from './people/history/open.ts'
import { openPeople, PEOPLE_JOBS } from './people/people.ts'
import { openReading, READING_JOBS, READING_JOBS_OF_EVERY_PROCESS, type ReadingOptions } from './reading/reading.ts'
import * as cells from './reading/reports/cells.ts'
import { openTelegram, telegramJobs, type TelegramOptions } from './telegram/telegram.ts'
import { openCertificates, openTraffic, TRAFFIC_JOBS } from './traffic/traffic.ts'
import * as vitalsApi from './vitals/api.ts'
import * as vitals from './vitals/vitals.ts'

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
export type HouseOptions = IntakeOptions &
  ReadingOptions &
  TelegramOptions & { quotas?: Partial<Record<CountedQuota, number>>; budget_ms?: number }

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
  const lanes = lanesOf(ground)
  const running = new AsyncDisposableStack()
  const take = into(running)
  try {
    openJobs(ground, lanes, options, take)
    const certificates = await openCertificates(ground, take)
    const isCertified = (name: string) => certificates?.live.serves(name) === true
    const { app, furnished } = await openFront(ground, lanes, { ...options, isCertified }, running)
    running.defer(() => app.close())
    const publicServers =
      certificates === undefined || config.role === 'work'
        ? undefined
        : take(await openPublicServers(app, ground, certificates.live))
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
        if (config.tls === 'auto' && config.role !== 'serve' && certificates !== undefined)
          take(certificates.openWorker())
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

/** Opens the periodic jobs and workers: with ROLE=serve only those that every process has. */
function openJobs(ground: Ground, lanes: readonly Lane[], options: HouseOptions, take: TakePart): void {
  for (const open of [...READING_JOBS_OF_EVERY_PROCESS, ...INTAKE_JOBS_OF_EVERY_PROCESS]) take(open(ground))
  if (ground.config.role === 'serve') return
  const jobs = [
    ...outgoingJobs(lanes),
    ...INTAKE_JOBS,
    ...READING_JOBS,
    ...PEOPLE_JOBS,
    ...MONEY_JOBS,
    ...TRAFFIC_JOBS,
    ...telegramJobs(options),
    ...AUTOMATION_JOBS,
    openHistoryRetention,
  ]
  for (const open of jobs) take(open(ground))
}

const listenersOf = ({ http, https }: PublicServers, { httpPort, httpsPort, tlsHost: host }: Config): Listener[] => [
  { name: 'http', server: http, port: httpPort, host, setting: 'HTTP_PORT' },
  { name: 'https', server: https, port: httpsPort, host, setting: 'HTTPS_PORT' },
]

type FrontOptions = HouseOptions & Pick<Domains, 'isCertified'>

/** Opens the gate and the rooms. With ROLE=work only the health and metrics endpoints are served. */
async function openFront(ground: Ground, lanes: readonly Lane[], options: FrontOptions, running: AsyncDisposableStack) {
  const take = into(running)
  const { config, log } = ground
  const redis = config.redisUrl === undefined ? undefined : openRedis(config.redisUrl, log)
  running.defer(() => redis?.disconnect())
  const quotas = openQuotas(redis, options.quotas)
  const traffic = await openTraffic(ground, take)
  const { live, domains } = traffic
  const rates = take(await openLiveRates(ground))
  const mayRecord = (org_id: number) => isWithin(quotas, org_id)
  const intake = await openIntake(ground, { live, rates, stillAllowed, mayRecord }, options, take)
  const { clicks, conversions, keeper, foresight } = intake
  const spend = (network: string) => quotas.spend('launches', network, { header: () => undefined })
  const telegram = await openTelegram(ground, { live, conversions, clicks, spend }, take)
  const { identities, memberships, ...people } = openPeople(ground, take, () => history.recorder)
  const probes = room(vitalsApi, vitals)
  const recordedRooms = [
    ...people.rooms,
    ...outgoingRooms(lanes),
    ...intake.rooms,
    ...traffic.rooms,
    ...telegram,
    ...openReading(ground, options, take),
    ...moneyRooms(cells),
    ...automationRooms((): OwnTools => tools),
    ...take(openBackups(ground)).rooms,
    ...probes,
  ]
  take(await keepHistoryMonths(ground))
  const history = openHistory(recordedRooms)
  const { recorder, subjects, rooms } = history
  const tools: OwnTools = { recorder, byName: new Map(recordedRooms.map(one => [one.name, one])) }
  if (config.role !== 'serve') for (const open of [openRuleRounds, openWeightRounds]) take(open(ground, tools))
  const bulk = room(bulkApi, bulkDeeds({ subjects, recorder }, recordedRooms))
  const furnished = [...recordedRooms, ...rooms, ...bulk]
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
  const app = openGate(
    { ...gateParts, recorder, foresight, domains: { find, noteVisit, open, keyOf, isCertified } },
    furnished,
  )
  const declared = [...furnished, ...serveTools(app, { ground, identities }, sluice.version)]
  await servePages(app, declared, identities, sluice.version)
  return { app, furnished: declared }
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
