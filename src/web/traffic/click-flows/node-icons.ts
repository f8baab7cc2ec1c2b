/** The icons of node types on the canvas and in menus. */
import {
  AppWindow,
  Bot,
  Flag,
  GitFork,
  LayoutTemplate,
  type LucideIcon,
  MessagesSquare,
  Split,
  Tag,
  Users,
} from 'lucide-react'
import type { NodeType } from '../../../traffic/click-flows/api.ts'

export const ICONS: Record<NodeType, LucideIcon> = {
  entry: Users,
  condition: GitFork,
  split: Split,
  landing: LayoutTemplate,
  offer: Tag,
  bot: Bot,
  mini_app: AppWindow,
  channel: MessagesSquare,
  redirect: Flag,
}
