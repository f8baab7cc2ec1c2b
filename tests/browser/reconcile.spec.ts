import { expect, test } from './dashboard.ts'

const BROWSER =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

test('a network’s file is compared, what is missing here is recorded after a dry run, and that is put back', async ({
  page,
  sluice,
}) => {
  await page.goto('/campaigns/new')
  await page.getByLabel('Name', { exact: true }).fill('Reconcile test')
  await page.getByLabel('Key').fill('reconcile-test')
  await page.getByLabel('Visitors go to').selectOption('Another URL')
  await page.getByLabel('Redirect to').fill('https://example.com/?subid={click_id}')
  await page.getByRole('button', { name: 'Create campaign' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Reconcile test' })).toBeVisible()
  const click = async () => {
    const reply = await fetch(`${sluice.address}/c/reconcile-test`, {
      redirect: 'manual',
      headers: { 'user-agent': BROWSER },
    })
    return /subid=(\w+)/.exec(reply.headers.get('location') ?? '')?.[1] ?? ''
  }
  const [known, lost] = [await click(), await click()]

  await page.getByRole('link', { name: 'Networks' }).click()
  await page.getByRole('button', { name: 'New network' }).first().click()
  const created = page.getByRole('dialog', { name: 'New network' })
  await created.getByLabel('Name').fill('Paying Well')
  await created.getByRole('button', { name: 'Add network' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Paying Well' })).toBeVisible()
  const address = (await page.getByText(/\/postback\/\w{32}\?/).textContent()) ?? ''
  const reply = await fetch(`${address.split('?')[0]}?subid=${known}&payout=10&tid=T1&status=sale`)
  expect(await reply.text()).toBe('OK\n')

  await page.getByRole('link', { name: 'Reconcile' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Reconcile with Paying Well' })).toBeVisible()
  const now = new Date().toISOString().slice(0, 19).replace('T', ' ')
  const lines = ['Click ID,Transaction ID,Payout,Status,Date', `${known},T1,10,approved,${now}`]
  const text = [...lines, `${lost},T2,25,approved,${now}`, `nobody,T3,5,approved,${now}`].join('\n')
  const file = { name: 'october.csv', mimeType: 'text/csv', buffer: Buffer.from(text) }
  await page.getByLabel('CSV file').setInputFiles(file)
  const heaps = page.getByRole('group', { name: 'Heaps' })
  await expect(heaps.getByRole('button', { name: '2 Missing here' })).toHaveAttribute('aria-pressed', 'true')
  await expect(heaps.getByRole('button', { name: '1 Same' })).toBeVisible()
  await expect(page.getByText('Approved here: $10.00, there: $40.00.')).toBeVisible()
  await expect(page.getByRole('row', { name: /T2/ })).toContainText(lost)

  await page.getByRole('button', { name: 'Record', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Record the missing conversions' })
  await expect(dialog.getByRole('row', { name: /T3/ })).toContainText('Refused')
  await dialog.getByRole('button', { name: 'Record: 1' }).click()
  await expect(heaps.getByRole('button', { name: '2 Same' })).toBeVisible()
  await expect(page.getByText('1 conversion has changed. 1 line was refused.')).toBeVisible()

  await page.getByRole('button', { name: 'Put it back' }).click()
  await expect(heaps.getByRole('button', { name: '1 Other status' })).toBeVisible()
  await page.getByRole('link', { name: 'Files of Paying Well' }).click()
  await expect(page.getByRole('table', { name: 'Compared files' }).getByRole('row')).toHaveCount(2)
})
