import type { APIRequestContext, Locator, Page } from '@playwright/test'
import { expect, send, test } from './dashboard.ts'

const EMPTY = { nodes: [{ id: 'entry', type: 'entry' }], edges: [] }

/** Creates a flow with this graph and opens its canvas. */
async function openCanvas(page: Page, owner: APIRequestContext, name: string, graph: object = EMPTY): Promise<Locator> {
  const { id } = await send(owner, 'POST', '/api/click-flows', { name, graph })
  await page.goto(`/click-flows/${id}`)
  await page.getByLabel('View', { exact: true }).selectOption('canvas')
  const canvas = page.locator('.react-flow')
  await expect(canvas.locator('.react-flow__node').first()).toBeVisible()
  return canvas
}

const addStep = async (page: Page, where: string, kind: string) => {
  await page.getByRole('button', { name: where, exact: true }).click()
  await page.getByRole('menuitem', { name: kind }).click()
}

test('a graph without positions is laid out in layers, and neither cards nor edges overlap', async ({
  page,
  owner,
}) => {
  const redirect = (id: string) => ({ id, type: 'redirect', url: `https://${id}.example/` })
  const canvas = await openCanvas(page, owner, 'Laid out', {
    nodes: [
      { id: 'entry', type: 'entry' },
      { id: 'geo', type: 'condition', field: 'geo', values: ['DE', 'AT'] },
      { id: 'ab', type: 'split' },
      { id: 'mobile', type: 'condition', field: 'device', values: ['mobile'] },
      ...['one', 'two', 'three', 'rest'].map(redirect),
    ],
    edges: [
      { from: 'entry', to: 'geo' },
      { from: 'geo', to: 'ab', branch: 'yes' },
      { from: 'geo', to: 'rest', branch: 'no' },
      { from: 'ab', to: 'one', weight: 50 },
      { from: 'ab', to: 'mobile', weight: 50 },
      { from: 'mobile', to: 'two', branch: 'yes' },
      { from: 'mobile', to: 'three', branch: 'no' },
    ],
  })
  await expect(canvas.locator('.react-flow__edge-path')).toHaveCount(7)
  const boxes = await boxesOf(canvas)
  const [entry, geo, ab, mobile, , two, three, rest] = boxes
  for (const [left, right] of [
    [entry, geo],
    [geo, ab],
    [ab, mobile],
    [mobile, two],
  ])
    expect(left?.right).toBeLessThan(right?.left ?? 0)
  // Yes is above no.
  expect(two?.top).toBeLessThan(three?.top ?? 0)
  expect(ab?.top).toBeLessThan(rest?.top ?? 0)
  for (const [at, box] of boxes.entries())
    for (const other of boxes.slice(at + 1))
      expect(
        box.right <= other.left || other.right <= box.left || box.bottom <= other.top || other.bottom <= box.top,
      ).toBe(true)
  const frame = await canvas.boundingBox()
  for (const box of boxes) {
    expect(box.left).toBeGreaterThanOrEqual(frame?.x ?? 0)
    expect(box.right).toBeLessThanOrEqual((frame?.x ?? 0) + (frame?.width ?? 0))
  }
  const lines = await linesOf(canvas)
  for (const [at, line] of lines.entries()) {
    // No edge runs through a card between its ends.
    for (const { x, y } of line.slice(2, -2))
      expect(boxes.some(box => x > box.left + 1 && x < box.right - 1 && y > box.top + 1 && y < box.bottom - 1)).toBe(
        false,
      )
    const middle = line[10]
    for (const other of lines.slice(at + 1))
      expect(
        Math.hypot((middle?.x ?? 0) - (other[10]?.x ?? 0), (middle?.y ?? 0) - (other[10]?.y ?? 0)),
      ).toBeGreaterThan(12)
  }
})

const boxesOf = (canvas: Locator) =>
  canvas.locator('.react-flow__node').evaluateAll(cards =>
    cards.map(card => {
      const { left, right, top, bottom } = card.getBoundingClientRect()
      return { left, right, top, bottom }
    }),
  )

/** Each edge as 21 points on the screen. */
const linesOf = (canvas: Locator) =>
  canvas.locator('.react-flow__edge-path').evaluateAll(paths =>
    paths.flatMap(path => {
      if (!(path instanceof SVGPathElement)) return []
      const toScreen = path.getScreenCTM()
      const length = path.getTotalLength()
      return [
        Array.from({ length: 21 }, (_, at) => {
          const { x, y } = path.getPointAtLength((length * at) / 20).matrixTransform(toScreen ?? undefined)
          return { x, y }
        }),
      ]
    }),
  )

test('a "+" adds a step after an open end or into an edge: connected, visible, and with the focus in its form @detail', async ({
  page,
  owner,
}) => {
  const { id: offer } = await send(owner, 'POST', '/api/offers', { name: 'Poker', url: 'https://offer.example/' })
  const canvas = await openCanvas(page, owner, 'By plus')
  await addStep(page, 'Add a step after Every visitor', 'Offer')
  await expect(page.getByLabel('Offer', { exact: true })).toBeFocused()
  await page.getByLabel('Offer', { exact: true }).selectOption(offer)
  await expect(canvas.locator('.react-flow__edge-path')).toHaveCount(1)
  await addStep(page, 'Add a step between Every visitor and Poker', 'Condition')
  await page.getByLabel('Condition', { exact: true }).selectOption('bot')
  await expect(page.getByLabel('No leads to')).toHaveValue('offer')
  await addStep(page, 'Add a step after Is a bot, if yes', 'Redirect')
  await page.getByLabel('Address', { exact: true }).fill('https://bots.example/')
  await addStep(page, 'Add a step between Is a bot and Poker, if no', 'Split')
  for (const name of ['Two', 'Three']) {
    await page.getByRole('button', { name: /^Add a step after Split/ }).click()
    await page.getByRole('menuitem', { name: 'Redirect' }).click()
    await page.getByLabel('Address', { exact: true }).fill(`https://${name}.example/`)
    await expect(canvas.locator('.react-flow__node.selected', { hasText: `${name}.example` })).toBeInViewport({
      ratio: 1,
    })
  }
  await expect(canvas.locator('.react-flow__edge-path')).toHaveCount(6)
  // New branches get even weights.
  for (const share of ['34 %', '33 %']) await expect(canvas.getByText(share).first()).toBeVisible()
  await page.getByRole('button', { name: 'Save draft' }).click()
  await expect(page.getByRole('button', { name: 'Publish', exact: true })).toHaveAccessibleDescription('')
})

test('steps are added by keyboard @detail', async ({ page, owner }) => {
  const canvas = await openCanvas(page, owner, 'By keys')
  const plus = page.getByRole('button', { name: 'Add a step after Every visitor' })
  await plus.focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('menuitem', { name: 'Condition' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByLabel('Condition', { exact: true })).toBeFocused()
  await page.getByLabel('Condition', { exact: true }).selectOption('uniqueness')
  await page.getByLabel('Yes leads to').selectOption({ label: 'New redirect' })
  await expect(page.getByLabel('Address', { exact: true })).toBeFocused()
  await page.keyboard.type('https://new.example/')
  await expect(canvas.locator('.react-flow__node')).toHaveCount(3)
  await expect(canvas.locator('.react-flow__edge-path')).toHaveCount(2)
})

test('a landing and an offer are created where they are chosen, and nodes are named after them @detail', async ({
  page,
  owner,
}) => {
  const canvas = await openCanvas(page, owner, 'Made here')
  await addStep(page, 'Add a step after Every visitor', 'Landing')
  await page.getByLabel('Landing', { exact: true }).selectOption({ label: 'New landing …' })
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('PL B')
  await dialog.getByLabel('Address').fill('https://land.example/?c={click_id}')
  await dialog.getByRole('button', { name: 'Add landing' }).click()
  await expect(canvas.locator('.react-flow__node', { hasText: 'PL B' })).toBeVisible()
  await expect(page.getByLabel('Landing', { exact: true }).locator('option:checked')).toHaveText('PL B')
  await page.getByLabel('Leads to', { exact: true }).selectOption({ label: 'New offer' })
  await page.getByLabel('Offer', { exact: true }).selectOption({ label: 'New offer …' })
  await dialog.getByLabel('Name').fill('Nutra DE')
  await dialog.getByLabel('Address').fill('https://offer.example/?c={click_id}')
  await dialog.getByRole('button', { name: 'Add offer' }).click()
  await expect(canvas.locator('.react-flow__node', { hasText: 'Nutra DE' })).toBeVisible()
  await page.getByRole('button', { name: 'Save draft' }).click()
  await expect(page.getByRole('button', { name: 'Publish', exact: true })).toHaveAccessibleDescription('')
  await page.getByLabel('Label').fill('The one that pays')
  await expect(canvas.locator('.react-flow__node', { hasText: 'The one that pays' })).toBeVisible()
})

test('arranged cards stay in place, new steps get a free place, and Tidy arranges all cards', async ({
  page,
  owner,
}) => {
  const canvas = await openCanvas(page, owner, 'Arranged', {
    nodes: [
      { id: 'entry', type: 'entry', x: 0, y: 0 },
      { id: 'ask', type: 'condition', field: 'bot', x: 40, y: 300 },
    ],
    edges: [{ from: 'entry', to: 'ask' }],
  })
  const below = async () => {
    const [entry, ask] = await boxesOf(canvas)
    return (ask?.top ?? 0) - (entry?.bottom ?? 0)
  }
  expect(await below()).toBeGreaterThan(0)
  await addStep(page, 'Add a step after Is a bot, if yes', 'Redirect')
  expect(await below()).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Tidy' }).click()
  await expect.poll(below).toBeLessThan(0)
  await page.getByRole('button', { name: 'Save draft' }).click()
  await expect(page.getByRole('button', { name: 'Save draft' })).toHaveAccessibleDescription('Everything is saved.')
})
