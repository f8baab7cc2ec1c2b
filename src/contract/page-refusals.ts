/** Refusals of visits and conversions that pages report; part of the catalogue. */

export const PAGE_REFUSALS = {
  site_not_listed: {
    status: 403,
    error: 'the site of this page is not listed for the campaign',
    code: 'site_not_listed',
    hint: 'Add its host to the sites of the campaign.',
  },
  page_server_unknown: {
    status: 403,
    error: 'the X-Sluice-Secret is of no page server of the campaign',
    code: 'page_server_unknown',
    hint: 'An admin creates a page server on the page of the campaign; its secret is shown once.',
  },
} as const
