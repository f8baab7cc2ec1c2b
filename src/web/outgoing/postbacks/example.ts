/** An example of a rule's address as it would be called. */
import { MACRO, POSTBACK_MACROS, type PostbackMacro } from '../../../outgoing/postbacks/api.ts'

/** An example value of each macro. */
const EXAMPLE: Record<PostbackMacro, string> = {
  click_id: '01h455vb4pex5vsknk084sn02q',
  event_type: 'lead',
  status: 'approved',
  revenue: '40',
  revenue_cents: '4000',
  currency: 'USD',
  txid: 'order-1001',
  sub1: 'video-3',
  sub2: 'broad',
  sub3: 'de',
  sub4: '',
  sub5: '',
  sub6: '',
  sub7: '',
  sub8: '',
  sub9: '',
  ref_id: 'IwAR2x0',
  event_id: '01h455vb4pex5vsknk084sn02r',
  campaign_id: '01h455vb4pex5vsknk084sn02s',
  offer_id: '01h455vb4pex5vsknk084sn02t',
  geo: 'DE',
  timestamp: '1795180000',
}

/** The address with example values in place of its macros. */
export function exampleOf(url: string): string {
  return url.replace(MACRO, (_, name: string | undefined) => {
    const known = POSTBACK_MACROS.find(macro => macro === name?.toLowerCase())
    return known === undefined ? '' : encodeURIComponent(EXAMPLE[known])
  })
}
