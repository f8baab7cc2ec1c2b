// A channel on the screen: who joined over which click, who asks and is let in, what the overview and the conversions say of it.
import { awayFromMidnight } from '../support/midnight.ts'
import { expect, send } from './dashboard.ts'
import { copiesOf, test } from './with-telegram.ts'

const userAgent = 'Mozilla/5.0 (X11; Linux x64) Chrome/130.0.0.0'

test('joins of a channel stand beside their clicks and cost, and who asks is let in @detail', async ({
  page,
  owner,
  telegram,
  sluice,
}) => {
  await awayFromMidnight()
  const fake = telegram.bot()
  const chat = telegram.chat({ title: 'Signals' })
  chat.promote(fake)
  const bot = await send(owner, 'POST', '/api/bots', { token: fake.token, mode: 'copy' })
  const copy = await copiesOf(bot, owner)
  await send(owner, 'POST', '/api/channels', { bot_id: bot.id, chat_id: chat.id })
  const campaign = await send(owner, 'POST', '/api/campaigns', {
    name: 'Into Signals',
    destination: { type: 'redirect', url: 'https://t.me/some?start={click_id}' },
  })
  const click = async () => {
    const visit = await fetch(`${sluice.address}/c/${String(campaign['key'])}`, {
      redirect: 'manual',
      headers: { 'user-agent': userAgent },
    })
    return new URL(visit.headers.get('location') ?? '').searchParams.get('start') ?? ''
  }
  const head = (id: number, name?: string) => ({
    chat: { id: chat.id, type: 'channel', title: 'Signals' },
    from: { id, is_bot: false, first_name: 'Ann' },
    date: Math.floor(Date.now() / 1000),
    ...(name === undefined ? {} : { invite_link: { invite_link: 'https://t.me/+a', name } }),
  })
  const [paid, organic, asking] = [telegram.person(), telegram.person(), telegram.person()]
  const [first, second] = [await click(), await click()]
  const join = (id: number, name?: string) => {
    const user = { id, is_bot: false, first_name: 'Ann' }
    const change = { old_chat_member: { status: 'left', user }, new_chat_member: { status: 'member', user } }
    return copy({ update_id: id, chat_member: { ...head(id, name), ...change } })
  }
  await join(paid.id, first)
  await join(organic.id)
  const link = await fetch(`${telegram.origin}/bot${fake.token}/createChatInviteLink`, {
    method: 'POST',
    body: JSON.stringify({ chat_id: chat.id, creates_join_request: true }),
  })
  asking.join(chat, ((await link.json()) as { result: { invite_link: string } }).result.invite_link)
  await copy({ update_id: 9, chat_join_request: { ...head(asking.id, second), user_chat_id: asking.id } })
  const day = new Date().toISOString().slice(0, 10)
  await send(owner, 'PUT', '/api/ad-spend', { campaign_id: campaign.id, day, amount: '5' })

  await page.goto('/channels')
  const line = page.getByRole('row').filter({ hasText: 'Signals' })
  await expect(line.getByText('5.00')).toHaveCount(1)
  await page.getByRole('link', { name: 'Signals' }).click()
  const figures = page.getByLabel('Figures of these days')
  await expect(figures).toContainText('Joins150.0% of clicks')
  await expect(figures).toContainText('Cost per join$5.00')
  await expect(page.getByRole('list', { name: 'Certainty of joins' })).toHaveText(/Own link 150.0%Organic 150.0%/)
  await page.getByLabel('Rows').selectOption('By campaign')
  await expect(page.getByRole('row', { name: /^Into Signals 2 1 1 0 0/ })).toBeVisible()

  const requests = page.getByRole('region', { name: 'Join requests' }).first()
  await expect(requests.getByRole('row').filter({ hasText: String(asking.id) })).toContainText('Waiting')
  await requests.getByRole('button', { name: 'Approve', exact: true }).click()
  await expect.poll(() => chat.members.has(asking.id)).toBe(true)
  await expect(requests.getByText('No requests are waiting').or(page.getByText('Join requests')).first()).toBeHidden({
    timeout: 15_000,
  })

  const members = page.getByRole('region', { name: 'Members' }).first()
  await members.getByLabel('Attribution').selectOption('Organic')
  await expect(members.getByText(String(organic.id))).toBeVisible()
  await expect(members.getByText(String(paid.id))).toBeHidden()

  await page.goto('/conversions?type=channel_join')
  await expect(page.getByText('own link')).toBeVisible()
  await page.goto(`/clicks/${first}`)
  await expect(page.getByText('own link')).toBeVisible()
})
