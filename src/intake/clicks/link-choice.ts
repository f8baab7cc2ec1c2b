/** Which invite link a visit into a channel gets. Only visits that count get a link of their own: the others would use the links up. */
import type { InviteLinks, Link } from '../../traffic/invite-links/open.ts'
import { linkOfCookie } from './visitor.ts'
import type { CompiledCampaign, Guest, IntoChannel } from './course.ts'

type Links = Pick<InviteLinks, 'give' | 'shared'>
type LinkSeeker = Pick<Guest, 'headers' | 'ms'> & { readonly traffic: CompiledCampaign }

/** A link of the visitor's own if the click counts, else the one the campaign shares; undefined if there is none. */
export function chooseLink(links: Links, seeker: LinkSeeker, into: IntoChannel, isTracked: boolean) {
  if (!isTracked) return sharedLink(links, seeker, into)
  const { traffic, headers, ms } = seeker
  const had = linkOfCookie(headers['cookie'])
  return links.give({ channel: into.channel, campaign_id: traffic.campaign.id, had, ms })
}

/** The link that all visitors of the campaign share. */
export const sharedLink = (
  links: Links,
  { traffic }: Pick<LinkSeeker, 'traffic'>,
  { channel }: IntoChannel,
): Link | undefined => links.shared({ channel, campaign_id: traffic.campaign.id })
