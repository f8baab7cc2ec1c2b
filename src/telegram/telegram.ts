/** Puts the rooms of the Telegram side together, for the house. */
import type { Clicks } from '../intake/clicks/clicks.ts'
import type { Conversions } from '../intake/events/conversions.ts'
import { type Ground, room } from '../ground/room.ts'
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
import { channelHearer } from './channels/hearing.ts'
import { type MakerOptions, openLinkMaker } from './channels/maker.ts'
import { openChannelNotices } from './channels/notices.ts'
import { listOfferedChats } from './channels/offered.ts'
import * as membersApi from './members/api.ts'
import { requestDoings } from './members/answers.ts'
import { withEarlierMembers } from './members/earlier.ts'
import { hearMembers } from './members/hear.ts'
import { readChannelFigures } from './members/figures.ts'
import * as lists from './members/lists.ts'
import { readChannelReport } from './members/report.ts'
import * as miniAppsApi from './mini-apps/api.ts'
import { miniAppDeeds } from './mini-apps/mini-apps.ts'
import * as paymentsApi from './payments/api.ts'
import { answerCheckout, hearCheckouts } from './payments/checkout.ts'
import { hearPayments } from './payments/hearing.ts'
import { openPaymentLooks } from './payments/looks.ts'
import * as payments from './payments/payments.ts'
import * as subscribersApi from './subscribers/api.ts'
import { forgetSubscriber } from './subscribers/forget.ts'
import { hearSubscribers } from './subscribers/hearing.ts'
import { importSubscribers } from './subscribers/import.ts'
import { withNamesErased } from './subscribers/standing.ts'
import * as subscribers from './subscribers/subscribers.ts'
import { sendWelcome } from './subscribers/welcome.ts'
import { openTaskRetention } from './tasks/retention.ts'
import type { Doings } from './tasks/tasks.ts'
import { openTasks } from './tasks/worker.ts'

type Parts = {
  live: LiveCampaigns
  conversions: Pick<Conversions, 'recordStart' | 'recordOwn' | 'recordInChat'>
  clicks: Pick<Clicks, 'isKept'>
  /** Spends one of the launches that a network has in a minute. */
  spend: (network: string) => Promise<void>
}

/** What a process that serves has of it. */
export async function openTelegram(ground: Ground, { live, conversions, clicks, spend }: Parts) {
  const { db } = ground
  const hearers = [
    channelHearer(ground),
    hearSubscribers(ground),
    hearCheckouts(ground),
    hearPayments({ db, conversions }),
    hearMembers(ground, { conversions, clicks }),
  ]
  const bots = await openBots(ground, conversions, hearers, answerCheckout(ground))
  const looks = ground.config.role === 'serve' ? undefined : openPaymentLooks({ ...ground, conversions })
  const updateBot = withNamesErased(bots.deeds.updateBot)
  const checkBot = channels.withChannelsLooked(bots.deeds.checkBot)
  const createChannel = withEarlierMembers(channels.createChannel)
  const furnished = [
    ...room(botsApi, { ...bots.deeds, updateBot, checkBot }),
    ...room(channelsApi, { ...channels, createChannel, listOfferedChats }),
    ...room(membersApi, { ...lists, readChannelReport, readChannelFigures }),
    ...room(subscribersApi, { ...subscribers, importSubscribers, forgetSubscriber }),
    ...room(paymentsApi, payments),
    ...room(broadcastsApi, { ...broadcasts, ...broadcastStates, listSends, testBroadcast }),
    ...room(miniAppsApi, miniAppDeeds({ live, conversions, spend })),
  ]
  return {
    furnished,
    async close() {
      await looks?.close()
      await bots.close()
    },
  }
}

/** Who does which kind of task. */
const doings = (ground: Ground): Doings => ({
  ...requestDoings(ground),
  welcome: sendWelcome(ground, asked => linkForClick(ground.db, asked)),
})

/** What tests and the bench set differently. */
type RoundOptions = MakerOptions & { readonly sending?: Partial<SendTerms> | undefined }

/** What goes round in the background. */
export const openTelegramRounds = (
  ground: Ground,
  { sending, ...making }: RoundOptions = {},
): { close(): unknown }[] => [
  openBotWatch(ground),
  openBotNotices(ground),
  openRelayRetention(ground),
  openTasks(ground, doings(ground)),
  openTaskRetention(ground),
  openLinkMaker(ground, making),
  openLinkSweep(ground),
  openChannelNotices(ground),
  openBroadcastWorker(ground, sending),
  openSendRetention(ground),
  openAfterwards(ground),
]
