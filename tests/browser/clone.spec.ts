// Cloning opens the form of a new object, filled with the values of another. Nothing is saved before the form is.
import type { APIRequestContext, Page } from '@playwright/test'
import { expect, send, test } from './dashboard.ts'

const url = 'https://example.com/?c={click_id}'

async function clone(page: Page, name: string | RegExp) {
  await page.getByRole('button', { name }).click()
  await page.getByRole('menuitem', { name: 'Clone' }).click()
}

const countOf = async (owner: APIRequestContext, path: string) =>
  ((await send(owner, 'GET', `${path}?limit=200`))['data'] as unknown[]).length

test('an offer is cloned by keyboard: nothing is saved before the form, Back closes it, reloading keeps it', async ({
  page,
  owner,
}) => {
  const body = { name: 'Alps', url, payout: '12.5', payout_types: ['ftd'] }
  const { id } = await send(owner, 'POST', '/api/offers', body)
  const before = await countOf(owner, '/api/offers')
  await page.goto('/offers?status=active')
  const actions = page.getByRole('button', { name: 'Actions for Alps', exact: true })
  await actions.focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('ArrowDown')
  await expect(page.getByRole('menuitem', { name: 'Clone' })).toBeFocused()
  await page.keyboard.press('Enter')
  const form = page.getByRole('dialog', { name: 'New offer' })
  await expect(form.getByLabel('Name')).toBeFocused()
  await expect(form.getByLabel('Name')).toHaveValue('Copy of Alps')
  await expect(form).toHaveAccessibleDescription('A copy of Alps.')
  await expect(page).toHaveURL(new RegExp(`status=active&clone=${id}`))

  await page.keyboard.press('Escape')
  await expect(form).toBeHidden()
  await expect(actions).toBeFocused()
  await expect(page).toHaveURL(/offers\?status=active$/)
  await clone(page, 'Actions for Alps')
  await expect(form).toBeVisible()
  await page.goBack()
  await expect(form).toBeHidden()
  await expect(actions).toBeVisible()

  // The copy has changes that someone else made after the list was read.
  await send(owner, 'PUT', `/api/offers/${id}`, { ...body, payout: '13' })
  await clone(page, 'Actions for Alps')
  await expect(form.getByLabel('Payout, $')).toHaveValue('13')
  await page.reload()
  await expect(form.getByLabel('Name')).toHaveValue('Copy of Alps')
  await expect(form.getByLabel('Address')).toHaveValue(url)
  await expect(form.getByLabel('Pays on')).toHaveValue('ftd')
  expect(await countOf(owner, '/api/offers')).toBe(before)

  await form.getByLabel('Payout, $').fill('14')
  await form.getByRole('button', { name: 'Add offer' }).click()
  await expect(page.getByText('Copy of Alps is added')).toBeVisible()
  await expect(page.getByRole('row', { name: /^Select Copy of Alps/ })).toContainText('14.00')
  await expect(page.getByRole('row', { name: /^Select Alps/ })).toContainText('13.00')
  await expect(page).toHaveURL(/offers\?status=active$/)
  expect(await countOf(owner, '/api/offers')).toBe(before + 1)
})

test('a landing and a funnel are cloned, the funnel without archived members @detail', async ({ page, owner }) => {
  const landing = await send(owner, 'POST', '/api/landings', { name: 'Cloned quiz', url })
  const old = await send(owner, 'POST', '/api/landings', { name: 'Cloned story', url })
  const funnel = await send(owner, 'POST', '/api/funnels', {
    name: 'Cloned pair',
    landings: [
      { landing_id: landing.id, weight: 70 },
      { landing_id: old.id, weight: 30 },
    ],
  })
  await send(owner, 'PUT', `/api/landings/${old.id}/status`, { status: 'archived' })

  await page.goto('/landings')
  await clone(page, 'Actions for Cloned quiz')
  const landingForm = page.getByRole('dialog', { name: 'New landing' })
  await expect(landingForm.getByLabel('Name')).toHaveValue('Copy of Cloned quiz')
  await expect(landingForm.getByLabel('Address')).toHaveValue(url)
  await landingForm.getByRole('button', { name: 'Add landing' }).click()
  await expect(page.getByRole('row', { name: /^Select Copy of Cloned quiz/ })).toBeVisible()

  await page.goto(`/funnels?clone=${funnel.id}`)
  const form = page.getByRole('dialog', { name: 'New funnel' })
  await expect(form.getByLabel('Name')).toHaveValue('Copy of Cloned pair')
  await expect(form.getByLabel('Weight of Cloned quiz')).toHaveValue('70')
  await expect(form.getByLabel('Weight of Cloned story')).toBeHidden()
  await expect(form.getByText('Not copied: Cloned story (archived).')).toBeVisible()
  await form.getByRole('button', { name: 'Create funnel' }).click()
  await expect(page.getByRole('row', { name: /^Select Copy of Cloned pair/ })).toContainText('Cloned quiz 100.0%')
})

test('a postback rule is cloned with its campaign, its method and its state @detail', async ({ page, owner }) => {
  const destination = { type: 'redirect', url }
  const campaign = await send(owner, 'POST', '/api/campaigns', { name: 'Ruled', destination })
  const rule = await send(owner, 'POST', '/api/postbacks', {
    event_type: 'subscription_renewed',
    url: 'https://example.com/pb?id={ref_id}',
    method: 'POST',
    campaign_id: campaign.id,
    preset: 'binom',
    active: false,
    once_per_person: true,
  })
  await page.goto('/postbacks')
  await clone(page, 'Actions for the rule for Subscription renewed')
  const form = page.getByRole('dialog', { name: 'New postback rule' })
  await expect(form.getByLabel('Conversion', { exact: true })).toHaveValue('subscription_renewed')
  // Also if the campaigns load after the form.
  await page.reload()
  await expect(form.getByLabel('Campaign', { exact: true })).toHaveValue(campaign.id)
  await expect(form.getByLabel('Start from')).toHaveValue('binom')
  await expect(form.getByLabel('Method')).toHaveValue('POST')
  await expect(form.getByLabel('Address')).toHaveValue('https://example.com/pb?id={ref_id}')
  await expect(form.getByLabel('First conversion per person only')).toBeChecked()
  await expect(form.getByLabel('Active')).not.toBeChecked()
  await form.getByRole('button', { name: 'Add rule' }).click()
  await expect(page.getByText('The rule is added')).toBeVisible()
  const { data } = await send(owner, 'GET', '/api/postbacks?event_type=subscription_renewed')
  const rules = data as { id: string }[]
  const { event_type, url: called, method, campaign_id, preset, active, once_per_person } = rule
  const copied = { event_type, url: called, method, campaign_id, preset, active, once_per_person }
  expect(rules).toEqual([expect.objectContaining(copied), expect.objectContaining(copied)])
  // Other tests find their rules on the page.
  for (const { id } of rules) await send(owner, 'DELETE', `/api/postbacks/${id}`)
})

test('a click flow is cloned as published, without later changes of its draft, from the list and from its page @detail', async ({
  page,
  owner,
}) => {
  const graph = (to: string) => ({
    nodes: [
      { id: 'entry', type: 'entry' },
      { id: 'go', type: 'redirect', url: to },
    ],
    edges: [{ from: 'entry', to: 'go' }],
  })
  const flow = await send(owner, 'POST', '/api/click-flows', { name: 'Twin', graph: graph('https://live.example/') })
  const form = page.getByRole('dialog', { name: 'New click flow' })
  await page.goto(`/click-flows?clone=${flow.id}`)
  await expect(form.getByText('A draft with its 2 nodes. It takes traffic once you publish it.')).toBeVisible()

  await send(owner, 'POST', `/api/click-flows/${flow.id}/publish`)
  await send(owner, 'PUT', `/api/click-flows/${flow.id}`, { name: 'Twin', graph: graph('https://draft.example/') })
  await page.goto('/click-flows')
  await clone(page, 'Actions for Twin')
  await expect(form.getByLabel('Name')).toHaveValue('Copy of Twin')
  await expect(form).toContainText('as published in version 1. Unpublished changes of its draft are not copied.')
  await form.getByRole('button', { name: 'Create click flow' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Copy of Twin' })).toBeVisible()
  await expect(page.getByText('Never published.')).toBeVisible()
  const copy = await send(owner, 'GET', `/api/click-flows/${page.url().split('/').at(-1)}`)
  expect([copy['status'], copy['graph']]).toEqual(['draft', graph('https://live.example/')])
  await page.goBack()
  await expect(page.getByRole('row', { name: /^Select Copy of Twin/ })).toBeVisible()
  await expect(form).toBeHidden()

  await page.goto(`/click-flows/${flow.id}`)
  await clone(page, 'Actions for Twin')
  await expect(form.getByLabel('Name')).toHaveValue('Copy of Twin')
})

test('a campaign is cloned without its key, and reloading keeps the copied values @detail', async ({ page, owner }) => {
  const offer = await send(owner, 'POST', '/api/offers', { name: 'Cloned with', url, payout: '5' })
  const draft = {
    destination: { type: 'redirect', url },
    offer_id: offer.id,
    fallback_url: 'https://fallback.example/',
    source: { sub1: 'utm_content' },
    strict_filter: true,
  }
  await send(owner, 'POST', '/api/campaigns', { name: 'Winter', key: 'winter-one', ...draft })
  await page.goto('/campaigns?range=30d')
  await clone(page, 'Actions for Winter')
  await expect(page).toHaveURL(/campaigns\/new\?clone=/)
  await expect(page.getByText('A copy of Winter, with its own link.')).toBeVisible()
  await page.reload()
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Copy of Winter')
  await expect(page.getByLabel('Key')).toHaveValue('')
  await expect(page.getByLabel('Offer')).toHaveValue(offer.id)
  await expect(page.getByLabel('Fallback')).toHaveValue('https://fallback.example/')
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Copy of Winter' })).toBeVisible()
  const copy = await send(owner, 'GET', `/api/campaigns/${page.url().split('/').at(-1)}`)
  expect(copy).toMatchObject(draft)
  expect(copy['key']).not.toBe('winter-one')
})

test('an object that is not in the workspace cannot be cloned, and the form shows an error @detail', async ({
  page,
  owner,
}) => {
  const { id } = await send(owner, 'POST', '/api/offers', { name: 'Gone', url })
  await send(owner, 'DELETE', `/api/offers/${id}`)
  for (const [list, what] of [
    ['offers', 'offer'],
    ['landings', 'landing'],
    ['funnels', 'funnel'],
    ['click-flows', 'click flow'],
    ['postbacks', 'postback rule'],
  ]) {
    await page.goto(`/${list}?clone=${id}`)
    const form = page.getByRole('dialog', { name: `New ${what}` })
    await expect(form.getByText(`This ${what} was not found`)).toBeVisible()
    await form.getByRole('button', { name: 'Close' }).click()
    await expect(page).toHaveURL(new RegExp(`/${list}$`))
    await expect(form).toBeHidden()
  }
  await page.goto(`/campaigns/new?clone=${id}`)
  await expect(page.getByText('This campaign was not found')).toBeVisible()
})

test('a copy of the longest name can be saved unchanged, and the name is not wider than the screen @detail', async ({
  page,
  owner,
}) => {
  const name = 'x'.repeat(200)
  const { id } = await send(owner, 'POST', '/api/campaigns', { name, destination: { type: 'redirect', url } })
  await page.goto(`/campaigns/new?clone=${id}`)
  await expect(page.getByText(`A copy of ${name}`)).toBeVisible()
  const overhang = () =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(await overhang()).toBe(0)
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByRole('heading', { level: 1, name: `Copy of ${name.slice(8)}`, exact: true })).toBeVisible()
  expect(await overhang()).toBe(0)
})
