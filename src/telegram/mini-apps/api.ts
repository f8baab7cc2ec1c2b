/** Mini Apps over HTTP: what an app's page posts when somebody has opened it. */
import { endpoint } from '../../contract/endpoint.ts'
import { Done } from '../../contract/fields.ts'

export const launchMiniApp = endpoint({
  route: 'POST /m/:bot',
  access: 'anyone',
  visit: true,
  hosts: 'any',
  takesRaw: true,
  summary: 'Record that somebody has opened a Mini App of a bot',
  description:
    'The body is Telegram.WebApp.initData as it stands, as text/plain, at most 8 KiB: it proves itself by its signature, and is taken for 24 hours. ' +
    'The click is the one its start_param hands on, else that of the person’s newest start of the last 30 days; without one nothing is recorded. ' +
    'Once per bot, person and click. Pages of any origin may call it; 20 calls a minute per address.',
  reply: Done,
  refuses: ['init_data_wrong', 'rate_limited', 'org_deleted', 'service_unavailable'],
})
