/** Puts the Telegram rooms together for `house.ts`. */
import type { Clicks } from '../intake/clicks/clicks.ts'
import type { Conversions } from '../intake/events/conversions.ts'
import { type Ground, room } from '../ground/room.ts'
import type { OpenPart, TakePart } from '../ground/running.ts'
import type { LiveCampaigns } from '../traffic/campaigns/live.ts'
import { linkForClick } from '../traffic/invite-links/invite-links.ts'
import { openLinkSweep } from '../traffic/invite-links/sweep.ts'
import * as botsApi from './bots/api.ts'
import { openBotNotices } from './bots/notices.ts'
import { openBots } from './bots/open.ts'
import { openRelayRetention } from './bots/relay-log.ts'
import { openBotWatch } from './bots/watch.ts'
import { openAfterwards } from './broadcasts/afterwards.ts'
import * as broadcastsApi from './broadcasts/api.ts'
import * as broadcasts from './broadcasts/broadcasts.ts'
import { listSends, openSendRetention } from './broadcasts/listing.ts'
import * as broadcastStates from './broadcasts/states.ts'
import type { SendTerms } from './broadcasts/terms.ts'
import { testBroadcast } from './broadcasts/trial.ts'
import { openBroadcastWorker } from './broadcasts/worker.ts'
import * as channelsApi from './channels/api.ts'
import * as channels from './channels/channels.ts'
import { channelListener } from './channels/listener.ts'
import { type MakerOptions, openLinkMaker } from './channels/maker.ts'
import { openChannelNotices } from './channels/notices.ts'
import { listOfferedChats } from './channels/offered.ts'
import * as membersApi from './members/api.ts'
import { requestTaskRunners } from './members/answers.ts'
import { withEarlierMembers } from './members/earlier.ts'
import { memberListener } from './members/listener.ts'
import { readChannelFigures } from './members/figures.ts'
import * as lists from './members/lists.ts'
import { readChannelReport } from './members/report.ts'
import * as miniAppsApi from './mini-apps/api.ts'
import { miniAppDeeds } from './mini-apps/mini-apps.ts'
import * as paymentsApi from './payments/api.ts'
import { answerCheckout, checkoutListener } from './payments/checkout.ts'
import { paymentListener } from './payments/listener.ts'
import { openStarsReads } from './payments/looks.ts'
import * as payments from './payments/payments.ts'
import * as subscribersApi from './subscribers/api.ts'
import { forgetSubscriber } from './subscribers/forget.ts'
import { subscriberListener } from './subscribers/listener.ts'
import { importSubscribers } from './subscribers/import.ts'
import { withNamesErased } from './subscribers/reachability.ts'
import * as subscribers from './subscribers/subscribers.ts'
import { sendWelcome } from './subscribers/welcome.ts'
import { openTaskRetention } from './tasks/retention.ts'
import type { TaskRunners } from './tasks/tasks.ts'
import { openTasks } from './tasks/worker.ts'

type Parts = {
  live: LiveCampaigns
  conversions: Pick<Conversions, 'recordStart' | 'recordOwn' | 'recordInChat'>
  clicks: Pick<Clicks, 'isKept'>
  /** Counts a Mini App launch against the network's limit per minute; refuses `rate_limited`. */
  spend: (network: string) => Promise<void>
}

/** The endpoints, and the listeners behind them. */
export async function openTelegram(ground: Ground, { live, conversions, clicks, spend }: Parts, take: TakePart) {
  const { db } = ground
  const listeners = [
    channelListener(ground),
    subscriberListener(ground),
    checkoutListener(ground),
    paymentListener({ db, conversions }),
    memberListener(ground, { conversions, clicks }),
  ]
  const bots = take(await openBots(ground, conversions, listeners, answerCheckout(ground)))
  if (ground.config.role !== 'serve') take(openStarsReads({ ...ground, conversions }))
  const updateBot = withNamesErased(bots.deeds.updateBot)
  const checkBot = channels.withChannelsChecked(bots.deeds.checkBot)
  const createChannel = withEarlierMembers(channels.createChannel)
  return [
    ...room(botsApi, { ...bots.deeds, updateBot, checkBot }),
    ...room(channelsApi, { ...channels, createChannel, listOfferedChats }),
    ...room(membersApi, { ...lists, readChannelReport, readChannelFigures }),
    ...room(subscribersApi, { ...subscribers, importSubscribers, forgetSubscriber }),
    ...room(paymentsApi, payments),
    ...room(broadcastsApi, { ...broadcasts, ...broadcastStates, listSends, testBroadcast }),
    ...room(miniAppsApi, miniAppDeeds({ live, conversions, spend })),
  ]
}

/** The runner of each kind of task. */
const taskRunners = (ground: Ground): TaskRunners => ({
  ...requestTaskRunners(ground),
  welcome: sendWelcome(ground, wanted => linkForClick(ground.db, wanted)),
})

/** Settings that only tests and the bench change. */
export type TelegramOptions = MakerOptions & { readonly sending?: Partial<SendTerms> | undefined }

/** The periodic jobs and workers, which do not run with ROLE=serve. */
export const telegramJobs = ({ sending, ...makerOptions }: TelegramOptions = {}): readonly OpenPart[] => [
  openBotWatch,
  openBotNotices,
  openRelayRetention,
  ground => openTasks(ground, taskRunners(ground)),
  openTaskRetention,
  ground => openLinkMaker(ground, makerOptions),
  openLinkSweep,
  openChannelNotices,
  ground => openBroadcastWorker(ground, sending),
  openSendRetention,
  openAfterwards,
]
