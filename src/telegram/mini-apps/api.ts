/** Mini Apps over HTTP: the launch that an app's page posts. */
import { endpoint } from '../../contract/endpoint.ts'
import { Done } from '../../contract/fields.ts'

export const launchMiniApp = endpoint({
  route: 'POST /m/:bot',
  access: 'anyone',
  history: { none: 'intake' },
  visit: true,
  hosts: 'any',
  takesRaw: true,
  summary: 'Record the launch of a Mini App',
  description:
    'The body is the unchanged Telegram.WebApp.initData as text/plain, at most 8 KiB. Its signature authenticates it, and it is accepted for 24 hours. ' +
    'The click is the one in start_param, otherwise that of the person’s newest start in the last 30 days; without a click nothing is recorded. ' +
    'A launch is recorded once per bot, person and click. Pages of any origin may call this, 20 times a minute per address.',
  reply: Done,
  refuses: ['init_data_wrong', 'rate_limited', 'org_deleted', 'service_unavailable'],
})
