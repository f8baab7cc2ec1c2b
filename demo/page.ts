// `npm run demo:page -- ADDRESS KEY`: serves a page on another origin than Sluice that counts its own visits, as a buyer's page would.
import { createServer } from 'node:http'
import { PAGE_HOSTS, PAGE_PORT } from './page-hosts.ts'

const [tracker = '', key = ''] = process.argv.slice(2)
if (!URL.canParse(tracker) || !/^[a-z0-9-]{3,64}$/.test(key)) {
  console.error('Usage: npm run demo:page -- ADDRESS KEY, as npm run demo prints it')
  process.exit(1)
}
const { origin } = new URL(tracker)

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Keto Prime</title>
<script src="${origin}/sluice.js" data-campaign="${key}" defer></script>
<noscript><img src="${origin}/v/${key}.gif" width="1" height="1" alt="" referrerpolicy="no-referrer-when-downgrade"></noscript>
<style>body{font:17px/1.6 system-ui,sans-serif;max-width:34rem;margin:12vh auto;padding:0 1rem}a,button{font:inherit;margin-right:1rem}</style>
<h1>Keto Prime</h1>
<p>This page counted its visit itself: <code id="click">…</code></p>
<p><a href="${origin}/o?k=${key}">To the offer</a> <button id="lead">Report a lead</button> <output id="told"></output></p>
<p>The visit is under Clicks in Sluice, the lead under Conversions, on hold until somebody approves it.</p>
<script>
addEventListener('load', () => {
  const show = () => document.getElementById('click').textContent = sluice.click_id || '…'
  setInterval(show, 300)
  document.getElementById('lead').onclick = async () => {
    document.getElementById('told').textContent = await sluice.convert('lead', { nonce: 'demo-page', value: 14.5, currency: 'USD' })
  }
})
</script></html>
`

createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE)).listen(
  PAGE_PORT,
  '127.0.0.1',
  () => console.log(`http://${PAGE_HOSTS[0]}/?sub1=demo&fbclid=demo`),
)
