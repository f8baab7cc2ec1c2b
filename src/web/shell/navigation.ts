/** The sidebar's groups and links, in the order shown. */
import { linkOptions } from '@tanstack/react-router'
import {
  Archive,
  AppWindow,
  ArrowLeftRight,
  BellRing,
  Bot,
  ChartNoAxesCombined,
  CircleDollarSign,
  Funnel,
  Globe,
  Goal,
  History,
  KeyRound,
  type LucideIcon,
  Mails,
  Megaphone,
  MessagesSquare,
  MousePointerClick,
  Radio,
  RadioTower,
  Receipt,
  Scale,
  Send,
  Settings2,
  ShieldQuestion,
  Signpost,
  Star,
  Table2,
  Tag,
  Tags,
  Trophy,
  UserRound,
  Users,
  UsersRound,
  Waypoints,
  Webhook,
} from 'lucide-react'

/** `key`: the key that opens the page after g. */
export type NavigationLink = { link: { to: string }; label: string; icon: LucideIcon; key?: string }

export type NavigationGroup = { title: string; links: readonly NavigationLink[]; isFolded?: true }

export const NAVIGATION: readonly NavigationGroup[] = [
  {
    title: 'Results',
    links: [
      { link: linkOptions({ to: '/' }), label: 'Overview', icon: ChartNoAxesCombined, key: 'h' },
      { link: linkOptions({ to: '/report' }), label: 'Report', icon: Table2, key: 'r' },
      { link: linkOptions({ to: '/clicks' }), label: 'Clicks', icon: MousePointerClick, key: 'k' },
      { link: linkOptions({ to: '/conversions' }), label: 'Conversions', icon: Trophy, key: 'v' },
      { link: linkOptions({ to: '/refused-events' }), label: 'Refused', icon: ShieldQuestion, key: 'x' },
    ],
  },
  {
    title: 'Traffic',
    links: [
      { link: linkOptions({ to: '/campaigns' }), label: 'Campaigns', icon: Megaphone, key: 'c' },
      { link: linkOptions({ to: '/sources' }), label: 'Sources', icon: Signpost, key: 's' },
      { link: linkOptions({ to: '/funnels' }), label: 'Funnels', icon: Funnel, key: 'f' },
      { link: linkOptions({ to: '/landings' }), label: 'Landings', icon: AppWindow, key: 'l' },
      { link: linkOptions({ to: '/click-flows' }), label: 'Click flows', icon: Waypoints, key: 'w' },
      { link: linkOptions({ to: '/offers' }), label: 'Offers', icon: Tag, key: 'o' },
      { link: linkOptions({ to: '/networks' }), label: 'Networks', icon: RadioTower, key: 'n' },
      { link: linkOptions({ to: '/ad-spend' }), label: 'Ad spend', icon: Receipt, key: 'a' },
    ],
  },
  {
    title: 'Telegram',
    links: [
      { link: linkOptions({ to: '/bots' }), label: 'Bots', icon: Bot, key: 'b' },
      { link: linkOptions({ to: '/channels' }), label: 'Channels', icon: MessagesSquare },
      { link: linkOptions({ to: '/subscribers' }), label: 'Subscribers', icon: Users, key: 'u' },
      { link: linkOptions({ to: '/broadcasts' }), label: 'Broadcasts', icon: Mails },
      { link: linkOptions({ to: '/payments' }), label: 'Payments', icon: Star },
    ],
  },
  {
    title: 'Outgoing',
    links: [
      { link: linkOptions({ to: '/postbacks' }), label: 'Postbacks', icon: Webhook, key: 'p' },
      { link: linkOptions({ to: '/ad-accounts' }), label: 'Ad accounts', icon: Radio },
      { link: linkOptions({ to: '/deliveries' }), label: 'Deliveries', icon: Send, key: 'd' },
    ],
  },
  {
    title: 'Automation',
    links: [
      { link: linkOptions({ to: '/automation/rules' }), label: 'Rules', icon: Scale },
      { link: linkOptions({ to: '/automation/receivers' }), label: 'Receivers', icon: BellRing },
    ],
  },
  {
    title: 'Settings',
    isFolded: true,
    links: [
      { link: linkOptions({ to: '/settings/api-keys' }), label: 'API keys', icon: KeyRound, key: 'i' },
      { link: linkOptions({ to: '/billing' }), label: 'Billing', icon: CircleDollarSign },
      { link: linkOptions({ to: '/settings/rates' }), label: 'Rates', icon: ArrowLeftRight },
      { link: linkOptions({ to: '/settings/events' }), label: 'Events', icon: Goal },
      { link: linkOptions({ to: '/settings/tags' }), label: 'Tags', icon: Tags },
      { link: linkOptions({ to: '/settings/domains' }), label: 'Domains', icon: Globe },
      { link: linkOptions({ to: '/settings/team' }), label: 'Team', icon: UsersRound },
      { link: linkOptions({ to: '/history' }), label: 'History', icon: History, key: 'y' },
      { link: linkOptions({ to: '/settings/workspace' }), label: 'Workspace', icon: Settings2 },
      { link: linkOptions({ to: '/settings/backup' }), label: 'Backup', icon: Archive },
      { link: linkOptions({ to: '/settings/profile' }), label: 'Profile', icon: UserRound },
    ],
  },
]
