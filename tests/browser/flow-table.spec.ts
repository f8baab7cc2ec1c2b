import type { APIRequestContext, Locator, Page } from '@playwright/test'
import { expect, send, test } from './dashboard.ts'

/** Counts interactions: a click is one, typing into a field is one, choosing from a list is two (opening it and choosing). */
function countingHand() {
  let count = 0
  return {
    get count() {
      return count
    },
    async press(what: Locator) {
      count += 1
      await what.click()
    },
    async type(field: Locator, text: string) {
      count += 1
      await field.fill(text)
    },
    async choose(list: Locator, label: string) {
      count += 2
      await list.selectOption({ label })
    },
  }
}

async function createObjects(owner: APIRequestContext, mark: string) {
  for (const name of ['PL A', 'PL B'])
    await send(owner, 'POST', '/api/landings', {
      name: `${mark} ${name}`,
      url: `https://land.example/?p=${name.at(-1)}`,
    })
  for (const name of ['One', 'Two', 'Three'])
    await send(owner, 'POST', '/api/offers', { name: `${mark} ${name}`, url: `https://${name}.example/` })
}

async function openFlow(page: Page, owner: APIRequestContext, name: string, graph: object): Promise<string> {
  const { id } = await send(owner, 'POST', '/api/click-flows', { name, graph })
  await page.goto(`/click-flows/${id}`)
  return id
}

type Graph = {
  nodes: { id: string; type: string; [field: string]: unknown }[]
  edges: { from: string; to: string; branch?: string; weight?: number }[]
}
async function readFlow(owner: APIRequestContext, id: string) {
  return (await (await owner.get(`/api/click-flows/${id}`)).json()) as {
    graph: Graph
    problems: unknown[]
    published_version: number | null
  }
}

test('a geo split with two landings and three offers takes at most 25 interactions from an empty flow to published', async ({
  page,
  owner,
}) => {
  await createObjects(owner, 'Fast')
  const id = await openFlow(page, owner, 'Fast', { nodes: [{ id: 'entry', type: 'entry' }], edges: [] })
  const hand = countingHand()
  await hand.press(page.getByRole('button', { name: 'Add a rule' }))
  const [rule, rest] = [
    page.getByRole('row', { name: 'Rule 1' }),
    page.getByRole('row', { name: 'Everyone else' }),
  ] as const
  await hand.type(rule.getByLabel('Countries, separated by commas'), 'Germany, AT')
  for (const name of ['Fast PL A', 'Fast PL B']) await hand.choose(rule.getByLabel('Add a landing'), name)
  for (const name of ['Fast One', 'Fast Two', 'Fast Three']) await hand.choose(rule.getByLabel('Add an offer'), name)
  await hand.type(rule.getByLabel('Weight of Fast PL A'), '70')
  await hand.type(rule.getByLabel('Weight of Fast PL B'), '30')
  await hand.type(rule.getByLabel('Weight of Fast One'), '50')
  await hand.type(rule.getByLabel('Weight of Fast Two'), '30')
  await hand.type(rule.getByLabel('Weight of Fast Three'), '20')
  await hand.choose(rest.getByLabel('Kind'), 'An address')
  await hand.type(rest.getByLabel('Address'), 'https://other.example/?geo={geo}')
  await hand.press(page.getByRole('button', { name: 'Save draft' }))
  await hand.press(page.getByRole('button', { name: 'Publish', exact: true }))
  await hand.press(page.getByRole('dialog').getByRole('button', { name: 'Publish' }))
  await expect(page.getByText('Version 1 is published.')).toBeVisible()
  expect(hand.count).toBeLessThanOrEqual(25)
  const { graph, published_version } = await readFlow(owner, id)
  expect(published_version).toBe(1)
  expect(graph.nodes.map(({ type }) => type).sort()).toEqual(
    ['condition', 'entry', 'landing', 'landing', 'offer', 'offer', 'offer', 'redirect', 'split', 'split'].sort(),
  )
  expect(graph.nodes.find(({ type }) => type === 'condition')?.['values']).toEqual(['DE', 'AT'])
  expect(graph.edges.flatMap(({ weight }) => weight ?? [])).toEqual([70, 30, 50, 30, 20])
  await page.getByLabel('View', { exact: true }).selectOption('canvas')
  await expect(page.locator('.react-flow__node')).toHaveCount(10)
  await page.getByLabel('View', { exact: true }).selectOption('table')
  await expect(rule.getByLabel('Weight of Fast PL A')).toHaveValue('70')
  await expect(rest.getByLabel('Address')).toHaveValue('https://other.example/?geo={geo}')
  await page.setViewportSize({ width: 1366, height: 768 })
  await expect(page.getByRole('button', { name: 'Remove rule 1' })).toBeInViewport({ ratio: 1 })
  const table = page.getByRole('region', { name: 'Rules' })
  await expect.poll(() => table.evaluate(frame => frame.scrollWidth - frame.clientWidth)).toBeLessThanOrEqual(0)
})

test('editing the table changes only what it shows: ids, labels and the order of rules stay', async ({
  page,
  owner,
}) => {
  const offers = await Promise.all(
    ['Alpha', 'Beta'].map(name => send(owner, 'POST', '/api/offers', { name, url: 'https://o.example/' })),
  )
  const graph = {
    nodes: [
      { id: 'entry', type: 'entry' },
      { id: 'pl', type: 'condition', field: 'geo', values: ['PL'], label: 'Poles' },
      { id: 'mob', type: 'condition', field: 'device', values: ['mobile'] },
      { id: 'ab', type: 'split', label: 'The test' },
      { id: 'a', type: 'offer', offer_id: offers[0]?.id },
      { id: 'b', type: 'offer', offer_id: offers[1]?.id },
    ],
    edges: [
      { from: 'entry', to: 'pl' },
      { from: 'pl', to: 'ab', branch: 'yes' },
      { from: 'pl', to: 'mob', branch: 'no' },
      { from: 'mob', to: 'a', branch: 'yes' },
      { from: 'mob', to: 'b', branch: 'no' },
      { from: 'ab', to: 'a', weight: 60 },
      { from: 'ab', to: 'b', weight: 40 },
    ],
  }
  const id = await openFlow(page, owner, 'Kept', graph)
  await page.getByLabel('View', { exact: true }).selectOption('table')
  const row = (name: string) => page.getByRole('row', { name })
  await row('Rule 1').getByLabel('Weight of Alpha').fill('80')
  const save = async () => {
    await page.getByRole('button', { name: 'Save draft' }).click()
    await expect(page.getByRole('button', { name: 'Save draft' })).toHaveAccessibleDescription('Everything is saved.')
    return (await readFlow(owner, id)).graph
  }
  const reweighted = await save()
  const byId = <T extends { id: string }>(nodes: readonly T[]) => nodes.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  expect(byId(reweighted.nodes)).toEqual(byId(graph.nodes))
  expect(reweighted.edges.find(({ weight }) => weight === 80)).toEqual({ from: 'ab', to: 'a', weight: 80 })
  expect(reweighted.edges).toHaveLength(graph.edges.length)
  // An offer that two rows share is changed in one of them.
  await row('Rule 2').getByLabel('Offer 1').selectOption({ label: 'Beta' })
  await page.getByRole('button', { name: 'Move rule 2 up' }).click()
  const reordered = await save()
  const targetOf = (from: string, branch?: string) =>
    reordered.edges.find(edge => edge.from === from && edge.branch === branch)?.to
  expect([targetOf('entry'), targetOf('mob', 'no'), targetOf('pl', 'yes')]).toEqual(['mob', 'pl', 'ab'])
  const chosen = reordered.nodes.find(node => node.id === targetOf('mob', 'yes'))
  expect(chosen?.['offer_id']).toBe(offers[1]?.id)
  expect(reordered.edges.filter(({ from }) => from === 'ab')).toHaveLength(2)
  await page.getByRole('button', { name: 'Remove rule 2' }).click()
  await expect(row('Rule 2')).toHaveCount(0)
  await expect(row('Everyone else').getByLabel('Offer 1').locator('option:checked')).toHaveText('Beta')
})

test('for a flow that the table cannot show, it gives the reason and offers the canvas @detail', async ({
  page,
  owner,
}) => {
  await openFlow(page, owner, 'Nested', {
    nodes: [
      { id: 'entry', type: 'entry' },
      { id: 'pl', type: 'condition', field: 'geo', values: ['PL'] },
      { id: 'mob', type: 'condition', field: 'device', values: ['mobile'] },
      { id: 'a', type: 'redirect', url: 'https://a.example/' },
    ],
    edges: [
      { from: 'entry', to: 'pl' },
      { from: 'pl', to: 'mob', branch: 'yes' },
      { from: 'pl', to: 'a', branch: 'no' },
      { from: 'mob', to: 'a', branch: 'yes' },
      { from: 'mob', to: 'a', branch: 'no' },
    ],
  })
  await page.getByLabel('View', { exact: true }).selectOption('table')
  await expect(page.getByText('The table cannot show this flow.')).toBeVisible()
  await expect(page.getByText('A condition or a split comes where the table has offers.')).toBeVisible()
  await page.getByRole('button', { name: 'Open the canvas' }).click()
  await expect(page.locator('.react-flow__node')).toHaveCount(4)
  await expect(page.getByRole('button', { name: 'Save draft' })).toHaveAccessibleDescription('Everything is saved.')
})
