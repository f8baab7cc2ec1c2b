import type { APIRequestContext } from '@playwright/test'
import { expect, send, test } from './dashboard.ts'

const GRAPH = {
  nodes: [
    { id: 'entry', type: 'entry', label: 'Every visitor' },
    { id: 'geo', type: 'condition', label: 'German speaking', field: 'geo', values: ['DE', 'AT'] },
    { id: 'ab', type: 'split', label: 'Which page' },
    { id: 'one', type: 'redirect', label: 'Page one', url: 'https://one.example/' },
    { id: 'two', type: 'redirect', label: 'Page two', url: 'https://two.example/' },
    { id: 'rest', type: 'redirect', label: 'The rest', url: 'https://rest.example/' },
  ],
  edges: [
    { from: 'entry', to: 'geo' },
    { from: 'geo', to: 'ab', branch: 'yes' },
    { from: 'geo', to: 'rest', branch: 'no' },
    { from: 'ab', to: 'one', weight: 70 },
    { from: 'ab', to: 'two', weight: 30 },
  ],
}

const createFlow = (owner: APIRequestContext, name: string) =>
  send(owner, 'POST', '/api/click-flows', { name, graph: GRAPH })

test('a flow is created, filled and published with forms only, and a campaign leads to it @detail', async ({
  page,
  owner,
}) => {
  await page.goto('/click-flows')
  await page.getByRole('button', { name: 'New click flow' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill('Made by form')
  await page.getByRole('button', { name: 'Create click flow' }).click()
  await expect(page.getByRole('heading', { name: 'Made by form' })).toBeVisible()
  await page.getByLabel('View', { exact: true }).selectOption('list')
  const addNode = async (kind: string) => {
    await page.getByRole('button', { name: 'Add a node' }).click()
    await page.getByRole('menuitem', { name: kind }).click()
  }
  await addNode('Condition')
  await page.getByLabel('Condition', { exact: true }).selectOption('geo')
  await page.getByLabel('Countries, separated by commas').fill('DE, AT')
  await addNode('Redirect')
  await page.getByLabel('Address').fill('https://one.example/')
  await page.getByRole('table', { name: 'Nodes' }).getByRole('button', { name: 'Every visitor' }).click()
  await page.getByLabel('Leads to').selectOption('condition')
  await page.getByRole('table', { name: 'Nodes' }).getByRole('button', { name: 'Country is DE, AT' }).click()
  await page.getByLabel('Yes leads to').selectOption('redirect')
  await page.getByRole('button', { name: 'Save draft' }).click()
  const problem = page.getByRole('region', { name: 'Problems' }).getByRole('button')
  await expect(problem).toHaveText('Country is DE, AT: its branch "no" leads nowhere. Connect it to a next step.')
  await addNode('Redirect')
  await page.getByLabel('Address').fill('https://rest.example/')
  await problem.click()
  await page.getByLabel('No leads to').selectOption('redirect-2')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await expect(problem).toHaveCount(0)
  await page.getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click()
  await expect(page.getByText('Version 1 is published.')).toBeVisible()

  await page.goto('/campaigns/new')
  await page.getByLabel('Name', { exact: true }).fill('Through the flow')
  await page.getByLabel('Visitors go to').selectOption('click_flow')
  await page.getByLabel('Click flow', { exact: true }).selectOption({ label: 'Made by form' })
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Through the flow' })).toBeVisible()
  const { data } = (await (await owner.get('/api/campaigns?q=through')).json()) as { data: { key: string }[] }
  const visit = await owner.get(`/c/${data[0]?.key}`, { maxRedirects: 0 })
  expect(visit.headers()['location']).toBe('https://rest.example/')
})

test('a flow is drawn on the canvas, and its cards are moved and deleted @detail', async ({ page, owner }) => {
  const { id } = await createFlow(owner, 'Drawn')
  await page.goto(`/click-flows/${id}`)
  const canvas = page.locator('.react-flow')
  await expect(canvas.getByText('German speaking')).toBeVisible()
  await expect(canvas.locator('.react-flow__edge')).toHaveCount(5)
  await canvas.getByText('Which page').click()
  await expect(page.getByRole('heading', { name: 'Split ab' })).toBeVisible()
  await expect(page.getByLabel('Weight of Page one')).toHaveValue('70')
  await page.getByLabel('Weight of Page one').fill('90')
  await expect(canvas.getByText('75 %')).toBeVisible()
  const card = canvas.locator('.react-flow__node', { hasText: 'The rest' })
  const [from, to] = [card.locator('.react-flow__handle'), card]
  await expect(from).toHaveCount(1)
  const box = await to.boundingBox()
  if (box === null) throw new Error('the card is not drawn')
  await page.mouse.move(box.x + 60, box.y + 12)
  await page.mouse.down()
  await page.mouse.move(box.x + 90, box.y + 60, { steps: 4 })
  await page.mouse.up()
  await card.click()
  await page.keyboard.press('Delete')
  await expect(card).toHaveCount(0)
  await expect(canvas.locator('.react-flow__edge')).toHaveCount(4)
})

test('a button that becomes disabled keeps the focus, and gives the reason when it is pressed @detail', async ({
  page,
  owner,
}) => {
  const { id } = await createFlow(owner, 'By keyboard')
  await page.goto(`/click-flows/${id}`)
  const save = page.getByRole('button', { name: 'Save draft' })
  await expect(save).toHaveAccessibleDescription('Everything is saved.')
  await page.getByLabel('Name', { exact: true }).fill('By keyboard alone')
  await expect(save).toHaveAccessibleDescription('')
  await save.focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: 'By keyboard alone' })).toBeVisible()
  await expect(save).toHaveAccessibleDescription('Everything is saved.')
  await expect(save).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByText('Everything is saved.').filter({ visible: true }).first()).toBeVisible()
  await expect(save).toBeFocused()
})

test('a redirect is credited to its offer, and a test shows the filled address and the offer @detail', async ({
  page,
  owner,
}) => {
  await send(owner, 'POST', '/api/offers', { name: 'Nutra DE', url: 'https://offer.example/' })
  const nodes = GRAPH.nodes.map(node => (node.id === 'rest' ? { ...node, url: 'https://rest.example/?g={geo}' } : node))
  const { id } = await send(owner, 'POST', '/api/click-flows', { name: 'Earns', graph: { ...GRAPH, nodes } })
  await page.goto(`/click-flows/${id}`)
  const tryFrance = async () => {
    await page.getByRole('button', { name: 'Try it' }).click()
    const dialog = page.getByRole('dialog', { name: 'Try it' })
    await dialog.getByLabel('Country').fill('France')
    await dialog.getByRole('button', { name: 'Try it' }).click()
    await expect(dialog.getByText('Ends at https://rest.example/?g=FR.')).toBeVisible()
    await expect(dialog.getByText('Leads to https://rest.example/?g=FR.')).toBeVisible()
    await expect(dialog.getByText('{geo}')).toHaveCount(0)
    return dialog
  }
  await expect((await tryFrance()).getByText('Credited to no offer.')).toBeVisible()
  await page.keyboard.press('Escape')
  await page.getByLabel('View', { exact: true }).selectOption('list')
  await page.getByRole('button', { name: 'The rest' }).click()
  await page.getByLabel('Credit to offer').selectOption({ label: 'Nutra DE' })
  await page.getByRole('button', { name: 'Save draft' }).click()
  await expect(page.getByRole('button', { name: 'Save draft' })).toHaveAccessibleDescription('Everything is saved.')
  await expect((await tryFrance()).getByText('Credited to offer Nutra DE.')).toBeVisible()
})

test('countries are typed by name or chosen from a list, and a text that is no country shows an error @detail', async ({
  page,
  owner,
}) => {
  const { id } = await createFlow(owner, 'Countries')
  await page.goto(`/click-flows/${id}`)
  await page.getByLabel('View', { exact: true }).selectOption('list')
  await page.getByRole('button', { name: 'German speaking' }).click()
  const field = page.getByLabel('Countries, separated by commas')
  await expect(field).toHaveAccessibleDescription('Germany, Austria')
  await field.fill('Germany, austria, UK, Germny')
  // The last part may still be incomplete.
  await expect(field).toHaveAccessibleDescription('Germany, Austria, United Kingdom')
  await field.blur()
  await expect(field).toHaveAccessibleDescription('“Germny” is not a country. Did you mean Germany?')
  await expect(field).toHaveValue('DE, AT, GB, Germny')
  await field.fill('DE, Deutschlnd, ')
  await expect(field).toHaveAccessibleDescription('“Deutschlnd” is not a country. Type a name or a code such as DE.')
  await field.fill('Germany, Türkiye')
  await page.getByLabel('Add a country').selectOption({ label: 'Switzerland (CH)' })
  await expect(field).toHaveValue('DE, TR, CH')
  await page.getByRole('button', { name: 'Save draft' }).click()
  await expect(page.getByRole('button', { name: 'Save draft' })).toHaveAccessibleDescription('Everything is saved.')
  const { graph } = (await (await owner.get(`/api/click-flows/${id}`)).json()) as typeof GRAPH & {
    graph: typeof GRAPH
  }
  expect(graph.nodes.find(node => node.id === 'geo')?.values).toEqual(['DE', 'TR', 'CH'])
})

test('Publish is the primary button only if there are changes to publish @detail', async ({ page, owner }) => {
  const { id } = await createFlow(owner, 'Bright')
  await page.goto(`/click-flows/${id}`)
  const publish = page.getByRole('button', { name: 'Publish', exact: true })
  const primaryColor = await publish.evaluate(button => getComputedStyle(button).backgroundColor)
  await publish.click()
  const confirm = page.getByRole('dialog').getByRole('button', { name: 'Publish' })
  await confirm.click()
  await expect(confirm).toBeHidden()
  await expect(publish).toHaveAccessibleDescription('There are no changes to publish.')
  await expect(publish).not.toHaveCSS('background-color', primaryColor)
  await page.getByRole('button', { name: 'Actions for Bright' }).click()
  await page.getByRole('menuitem', { name: 'Pause' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
  await expect(page.getByText('Paused', { exact: true })).toBeVisible()
  await expect(publish).toHaveAccessibleDescription('')
  await expect(publish).not.toHaveCSS('background-color', primaryColor)
})

test('a draft is tested before it is published, and a version is restored @detail', async ({ page, owner }) => {
  const { id } = await createFlow(owner, 'Tried')
  await send(owner, 'POST', `/api/click-flows/${id}/publish`)
  await page.goto(`/click-flows/${id}`)
  await page.getByRole('button', { name: 'Try it' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Country').fill('FR')
  await dialog.getByRole('button', { name: 'Try it' }).click()
  await expect(dialog.getByText('geo is FR, asked for DE, AT: no.')).toHaveCount(2)
  await expect(dialog.getByText('https://rest.example/').first()).toBeVisible()
  await page.keyboard.press('Escape')
  await page.getByLabel('View', { exact: true }).selectOption('list')
  await page.getByRole('button', { name: 'Page two' }).click()
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByRole('button', { name: 'Save draft' }).click()
  await expect(page.getByText('Draft changed')).toBeVisible()
  await page.getByRole('button', { name: 'Versions' }).click()
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await expect(page.getByRole('button', { name: 'Page two' })).toBeVisible()
  await expect(page.getByText('Draft changed')).toHaveCount(0)
  await page.getByRole('button', { name: 'Actions for Tried' }).click()
  await page.getByRole('menuitem', { name: 'Pause' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
  await expect(page.getByText('Paused', { exact: true })).toBeVisible()
})

test('a draft is tested with the last real clicks @detail', async ({ page, owner }) => {
  const { id } = await createFlow(owner, 'With clicks')
  await send(owner, 'POST', `/api/click-flows/${id}/publish`)
  const destination = { type: 'click_flow', click_flow_id: id }
  const { key } = await send(owner, 'POST', '/api/campaigns', { name: 'Clicked', destination })
  for (const _ of [1, 2, 3]) await owner.get(`/c/${String(key)}`, { maxRedirects: 0 })
  const elsewhere = GRAPH.nodes.map(node =>
    node.id === 'rest' ? { ...node, url: 'https://elsewhere.example/' } : node,
  )
  await send(owner, 'PUT', `/api/click-flows/${id}`, { name: 'With clicks', graph: { ...GRAPH, nodes: elsewhere } })
  await page.goto(`/click-flows/${id}`)
  await page.getByRole('button', { name: 'Try it' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Visitors').selectOption('clicks')
  await dialog.getByRole('button', { name: 'Try it' }).click()
  await expect(dialog.getByText('Publishing the draft would send 3 of 3 clicks elsewhere.')).toBeVisible()
  const ends = dialog.getByRole('table', { name: 'Destinations' })
  await expect(ends.getByRole('row', { name: 'https://elsewhere.example/ 3 0' })).toBeVisible()
  await expect(ends.getByRole('row', { name: 'https://rest.example/ 0 3' })).toBeVisible()
})

test('unsaved changes are not lost by leaving, and do not overwrite the changes of someone else', async ({
  page,
  owner,
}) => {
  const { id } = await createFlow(owner, 'Shared')
  await page.goto(`/click-flows/${id}`)
  await page.getByLabel('View', { exact: true }).selectOption('list')
  await page.getByRole('button', { name: 'Page one' }).click()
  await page.getByLabel('Address').fill('https://mine.example/')
  const dialogEvent = page.waitForEvent('dialog')
  // Not awaited yet: the click ends only when the dialog is answered.
  const leaving = page.getByRole('link', { name: 'Click flows' }).first().click()
  const question = await dialogEvent
  expect(question.message()).toBe('Leave without saving the draft?')
  await question.dismiss()
  await leaving
  const theirs = { ...GRAPH, nodes: GRAPH.nodes.map(node => ({ ...node, label: `Their ${node.id}` })) }
  await send(owner, 'PUT', `/api/click-flows/${id}`, { name: 'Shared', graph: theirs })
  await page.getByRole('button', { name: 'Save draft' }).click()
  await expect(page.getByRole('alert')).toContainText('Someone has changed the draft since it was read')
  await expect(page.getByLabel('Address')).toHaveValue('https://mine.example/')
})

test('on a phone a flow opens as a list, and nothing is wider than the screen', async ({ page, owner }) => {
  const { id } = await createFlow(owner, 'On a phone')
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`/click-flows/${id}`)
  await page.getByRole('button', { name: 'Which page' }).click()
  await expect(page.getByLabel('Weight of Page one')).toBeVisible()
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
})
