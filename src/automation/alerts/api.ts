/** Which alerts a workspace gets, over HTTP. Sessions only: no right of keys covers these routes. */
import { z } from 'zod'
import { ALERT_KINDS } from '../../contract/alerts.ts'
import { endpoint } from '../../contract/endpoint.ts'

/** Fewer expected conversions or clicks say nothing when they fail to come. */
export const USUAL_MIN_EXPECTED = 20

export const AlertSettings = z
  .strictObject({
    off: z.array(z.enum(ALERT_KINDS)).max(ALERT_KINDS.length).meta({ description: 'Kinds that nobody is told about' }),
    fall: z.strictObject({
      conversions: z.strictObject({
        min_expected: z.int().min(1).max(1_000_000).meta({
          description: 'conversions_fall is silent where fewer conversions are expected',
        }),
      }),
    }),
  })
  .meta({ id: 'AlertSettings' })
export type AlertSettings = z.output<typeof AlertSettings>

export const readAlertSettings = endpoint({
  route: 'GET /api/alert-settings',
  access: { session: 'member' },
  summary: 'Read which alerts the workspace gets',
  reply: AlertSettings,
})

export const replaceAlertSettings = endpoint({
  route: 'PUT /api/alert-settings',
  access: { session: 'admin' },
  history: 'alert_settings',
  summary: 'Set which alerts the workspace gets',
  description: 'Replaces all settings. An episode of a kind that is switched off ends without a word.',
  body: AlertSettings,
  reply: AlertSettings,
})
