/** The public address of a campaign: where visitors of ads arrive. */
import { endpoint } from '../contract/endpoint.ts'

export const visitCampaign = endpoint({
  route: 'GET /c/:key',
  access: 'anyone',
  visit: true,
  summary: "Record a click and redirect to the campaign's destination",
  description:
    'Answers 302, or a plain 404 for a key that no campaign has. Reads ref_id, sub1 to sub9, fbclid, gclid, gbraid, wbraid and ttclid from the query. HEAD redirects with an empty click id and records nothing.',
})
