import type { Page } from '@playwright/test'
import { NAVIGATION } from '../../src/web/shell/navigation.ts'
import { expect, OWNER, send, test } from './dashboard.ts'

/** Pages that the menu has no link to. */
const FURTHER = ['/campaigns/new', '/ad-spend/accounts', '/ad-spend/import']
const LINKED = NAVIGATION.flatMap(({ links }) => links.map(({ link }) => link.to))

/** Checks what screen readers need: one main heading, no skipped heading level, a name on every control. */
function soundness() {
  const seen = (node: Element) => node.getClientRects().length > 0
  const nameOf = (node: Element) =>
    node.getAttribute('aria-label') ??
    (node instanceof HTMLInputElement || node instanceof HTMLSelectElement || node instanceof HTMLTextAreaElement
      ? [...(node.labels ?? [])].map(label => label.textContent).join('')
      : node.textContent)
  const levels = [...document.querySelectorAll('h1,h2,h3,h4')].map(heading => Number(heading.tagName.slice(1)))
  const ids = [...document.querySelectorAll('[id]')].map(node => node.id)
  return {
    mainHeadings: levels.filter(level => level === 1).length,
    skippedLevels: levels.filter((level, at) => at > 0 && level > (levels[at - 1] ?? 0) + 1).length,
    nameless: [...document.querySelectorAll('button,a[href],input,select,textarea')]
      .filter(node => seen(node) && nameOf(node).trim() === '')
      .map(node => node.outerHTML),
    tablesWithoutCaption: document.querySelectorAll('table:not(:has(caption))').length,
    headsWithoutScope: document.querySelectorAll('th:not([scope])').length,
    imagesWithoutText: document.querySelectorAll('img:not([alt])').length,
    twiceUsedIds: ids.filter((id, at) => ids.indexOf(id) !== at),
    mains: document.querySelectorAll('main').length,
    language: document.documentElement.lang,
    title: document.title,
  }
}

async function waitForLoad(page: Page) {
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await expect(page.getByLabel('Loading')).toHaveCount(0)
}

async function checkSound(page: Page) {
  await waitForLoad(page)
  const { title, ...found } = await page.evaluate(soundness)
  const path = new URL(page.url()).pathname
  expect({ path, ...found }).toEqual({
    path,
    mainHeadings: 1,
    skippedLevels: 0,
    nameless: [],
    tablesWithoutCaption: 0,
    headsWithoutScope: 0,
    imagesWithoutText: 0,
    twiceUsedIds: [],
    mains: 1,
    language: 'en',
  })
  expect(title, path).toMatch(/ · Sluice$/)
  // Nothing is wider than a phone's screen. Tables scroll inside their own frame.
  const size = page.viewportSize()
  await page.setViewportSize({ width: 360, height: 740 })
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(360)
  if (size !== null) await page.setViewportSize(size)
}

for (const { title, links } of NAVIGATION)
  test(`the menu opens the pages of ${title} without browser errors, sound for screen readers and for a phone`, async ({
    page,
  }) => {
    const [first, ...others] = links.map(({ link }) => link.to)
    await page.goto(first ?? '/')
    await checkSound(page)
    for (const path of others) {
      const heading = page.getByRole('heading', { level: 1 })
      const before = await heading.innerText()
      const link = page.locator(`nav a[href="${path}"]`)
      // The menu hides pages that mean nothing to this person.
      await ((await link.count()) > 0 ? link.click() : page.goto(path))
      await expect(heading).not.toHaveText(before)
      await checkSound(page)
    }
  })

test('further pages open without browser errors, sound for screen readers and for a phone', async ({ page }) => {
  for (const path of FURTHER) {
    await page.goto(path)
    await checkSound(page)
  }
})

for (const path of LINKED)
  test(`${path} opens by its address @detail`, async ({ page }) => {
    await page.goto(path)
    await checkSound(page)
  })

test('the first press of Tab offers to skip the navigation', async ({ page }) => {
  await page.goto('/settings/team')
  await waitForLoad(page)
  await page.keyboard.press('Tab')
  const skip = page.getByRole('link', { name: 'Skip to the page' })
  await expect(skip).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('main')).toBeFocused()
})

test('light and dark follow the system, and a choice is remembered @detail', async ({ page }) => {
  const lightness = () =>
    page.evaluate(() => {
      const pen = document.createElement('canvas').getContext('2d')
      if (pen === null) return Number.NaN
      pen.fillStyle = getComputedStyle(document.documentElement).backgroundColor
      pen.fillRect(0, 0, 1, 1)
      return (pen.getImageData(0, 0, 1, 1).data[1] ?? 0) / 255
    })
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto('/settings/profile')
  await waitForLoad(page)
  await expect.poll(lightness).toBeLessThan(0.3)
  await page.getByRole('button', { name: OWNER.email }).click()
  await page.getByRole('menuitemradio', { name: 'Light' }).click()
  await expect.poll(lightness).toBeGreaterThan(0.9)
  await page.reload()
  await waitForLoad(page)
  await expect.poll(lightness).toBeGreaterThan(0.9)
})

test('a deleted workspace shows how to restore it, and restoring brings everything back @detail', async ({
  page,
  owner,
}) => {
  const second = await send(owner, 'POST', '/api/organizations', { name: 'Second' })
  await page.goto('/settings/workspace')
  await expect(page.getByRole('button', { name: 'Workspace: Second' })).toBeVisible()
  await page.getByRole('button', { name: 'Delete workspace' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByRole('button', { name: 'Delete workspace' })).toBeDisabled()
  await dialog.getByLabel('Type DELETE to confirm').fill('DELETE')
  await dialog.getByRole('button', { name: 'Delete workspace' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Second is deleted' })).toBeVisible()
  await page.getByRole('button', { name: 'Restore the workspace' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Workspace' })).toBeVisible()

  await page.getByRole('button', { name: 'Workspace: Second' }).click()
  await page.getByRole('menuitemradio', { name: OWNER.organization }).click()
  await expect(page.getByRole('button', { name: `Workspace: ${OWNER.organization}` })).toBeVisible()

  // In another workspace, choosing the deleted one in the menu restores it.
  await send(owner, 'DELETE', `/api/organizations/${second.id}`)
  await page.reload()
  const choose = async (from: string, to: string) => {
    await page.getByRole('button', { name: `Workspace: ${from}` }).click()
    await page.getByRole('menuitemradio', { name: to }).click()
  }
  await choose(OWNER.organization, 'Second (deleted)')
  await page
    .getByRole('dialog', { name: 'Restore Second?' })
    .getByRole('button', { name: 'Restore and switch' })
    .click()
  await expect(page.getByRole('button', { name: 'Workspace: Second' })).toBeVisible()
  await choose('Second', OWNER.organization)
  await expect(page.getByRole('button', { name: `Workspace: ${OWNER.organization}` })).toBeVisible()
  const mine = await send(owner, 'GET', '/api/organizations')
  expect(mine['data']).toContainEqual(expect.objectContaining({ id: second.id, active: false, deleted_at: null }))
})

test('an invited person signs up by the link and sees what a member may not do', async ({
  page,
  owner,
  browser,
  sluice,
}) => {
  await page.goto('/settings/team')
  await page.getByRole('button', { name: 'Invite' }).click()
  await page.getByRole('dialog').getByLabel('E-mail').fill('jon@example.com')
  await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
  const link = await page.getByRole('dialog').getByLabel('Link').inputValue()

  const context = await browser.newContext({ baseURL: sluice.address, storageState: { cookies: [], origins: [] } })
  const theirs = await context.newPage()
  await theirs.goto(link)
  await expect(theirs.getByRole('heading', { level: 1, name: `Join ${OWNER.organization}` })).toBeVisible()
  await theirs.getByLabel('Your name').fill('Jon')
  await theirs.getByLabel('Password').fill('another long password')
  await theirs.getByRole('button', { name: 'Create account and join' }).click()
  await expect(theirs.getByRole('button', { name: `Workspace: ${OWNER.organization}` })).toBeVisible()

  await theirs.getByText('Settings', { exact: true }).click()
  await theirs.getByRole('link', { name: 'Workspace' }).click()
  await expect(theirs.getByRole('button', { name: 'Delete workspace' })).toHaveAccessibleDescription(
    'Only owners of the workspace can do this; you are a member.',
  )
  const network = await send(owner, 'POST', '/api/networks', { name: 'Secretive', template: 'plain' })
  await theirs.goto(`/networks/${network.id}`)
  await expect(theirs.getByText(/\/postback\/\*{8}\?click_id=/)).toBeVisible()
  await expect(theirs.getByRole('button', { name: 'Copy', exact: true }).first()).toHaveAccessibleDescription(
    /only owners and admins see its secret part/,
  )
  await theirs.goto('/networks')
  await expect(theirs.getByRole('button', { name: 'Copy URL of Secretive' })).toHaveAttribute('aria-disabled', 'true')
  await context.close()
  const members = await send(owner, 'GET', '/api/members')
  expect(members['data']).toContainEqual(expect.objectContaining({ email: 'jon@example.com', role: 'member' }))
})

test('after another tab switches the workspace, a tab asks before anything is saved in the wrong one', async ({
  page,
  context,
  owner,
}) => {
  const { data } = (await (await owner.get('/api/organizations')).json()) as { data: { id: string; name: string }[] }
  const home = data.find(({ name }) => name === OWNER.organization)
  const second = await send(owner, 'POST', '/api/organizations', { name: 'Elsewhere' })
  await send(owner, 'POST', `/api/organizations/${home?.id}/activate`)
  await page.goto('/campaigns/new')
  await waitForLoad(page)
  await page.getByLabel('Name', { exact: true }).fill('Half written')
  const other = await context.newPage()
  await other.goto('/')
  await other.getByRole('button', { name: `Workspace: ${OWNER.organization}` }).click()
  await other.getByRole('menuitemradio', { name: 'Elsewhere' }).click()
  await expect(other.getByRole('button', { name: 'Workspace: Elsewhere' })).toBeVisible()

  const asked = page.getByRole('dialog', { name: 'Another tab switched to Elsewhere' })
  await asked.getByRole('button', { name: `Back to ${OWNER.organization}` }).click()
  await expect(asked).toBeHidden()
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Half written')
  const back = other.getByRole('dialog', { name: `Another tab switched to ${OWNER.organization}` })
  await back.getByRole('button', { name: `Continue in ${OWNER.organization}` }).click()
  await expect(other.getByRole('button', { name: `Workspace: ${OWNER.organization}` })).toBeVisible()
  await expect(back).toBeHidden()
  await other.close()
  await send(owner, 'DELETE', `/api/organizations/${String(second.id)}`)
})

test('scripts and styles are sent compressed to browsers that accept it', async ({ sluice }) => {
  const html = await (await fetch(sluice.address)).text()
  const names = [...html.matchAll(/\/assets\/index-[\w-]+\.(?:js|css)/g)].map(([name]) => name)
  expect(names).toHaveLength(2)
  for (const name of names)
    for (const encoding of ['br', 'gzip', 'identity']) {
      const reply = await fetch(sluice.address + name, { headers: { 'accept-encoding': encoding } })
      expect(reply.status).toBe(200)
      expect(reply.headers.get('content-type')).toMatch(/javascript|css/)
      expect(reply.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding)
      expect(reply.headers.get('vary')?.toLowerCase()).toContain('accept-encoding')
      expect((await reply.text()).length).toBeGreaterThan(0)
    }
})
