/** Why a click does not count in reports. */
import type { UntrackedReason } from '../../contract/page-visits.ts'
import { agentOf } from './agent.ts'
import type { Click } from './click.ts'
import { PAUSED_PATH } from './while-paused.ts'

type Judged = Pick<Click, 'tracked' | 'test' | 'click_flow_node_path' | 'device' | 'user_agent'>

/** The reason, null for a click that counts. `reported` is the reason that was stored with a page's visit. */
export function untrackedReason(click: Judged, reported: string | null): UntrackedReason | null {
  if (click.tracked) return null
  if (reported !== null) return reported as UntrackedReason
  if (click.test) return 'test'
  if (click.click_flow_node_path === PAUSED_PATH) return 'paused'
  if (click.device === 'bot') return 'crawler'
  return agentOf(click.user_agent ?? undefined).kind === 'library' ? 'library' : 'ahead'
}
