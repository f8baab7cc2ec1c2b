/* <script src="https://your-tracker/sluice.js" data-click="click_id" defer></script>
   Reads the click id from the URL, marks the click as landed, and points links to /o, or with data-sluice-offer, at its offer.
   With data-bot: reports a Mini App's launch. */
;(() => {
  const script = document.currentScript
  if (!script || !script.src) return
  const base = new URL('.', script.src).href
  const name = script.dataset.click || 'click_id'
  const KEY = 'sluice_click'
  const ID = /^([0-9a-hjkmnp-tv-z]{26}|[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12})$/i

  const attempt = deed => {
    try {
      return deed()
    } catch {
      // Storage may be blocked; then only the URL counts.
    }
  }
  const session = key => attempt(() => sessionStorage.getItem(key))
  const cookie = () => attempt(() => (document.cookie.match(`(?:^|; )${KEY}=([^;]*)`) || [])[1])

  const { bot } = script.dataset
  if (bot) {
    const body =
      attempt(() => Telegram.WebApp.initData) || new URLSearchParams(location.hash.slice(1)).get('tgWebAppData')
    const tell = left =>
      fetch(`${base}m/${bot}`, { method: 'POST', body, keepalive: true })
        .then(({ status }) => status < 500 || Promise.reject())
        .catch(() => left && setTimeout(tell, 5000, left - 1))
    return body && tell(2)
  }

  const sent = new URLSearchParams(location.search).get(name)
  const id = [sent, session(KEY), cookie()].find(text => text && ID.test(text))
  if (id) {
    attempt(() => sessionStorage.setItem(KEY, id))
    // For pages of this site in other tabs.
    attempt(() => (document.cookie = `${KEY}=${id}; path=/; samesite=lax`))
    window.sluice = { click_id: id }
  }

  const land = () => {
    const url = `${base}l/${id}`
    if (!id || session(`${KEY}_landed`) === id) return
    const isQueued = attempt(() => navigator.sendBeacon(url))
    if (!isQueued) attempt(() => fetch(url, { method: 'POST', mode: 'no-cors', keepalive: true }).catch(() => {}))
    attempt(() => sessionStorage.setItem(`${KEY}_landed`, id))
  }
  if (document.prerendering) document.addEventListener('prerenderingchange', land, { once: true })
  else land()

  // Without an id the tracker uses its own cookie.
  const offer = id ? `${base}o/${id}` : `${base}o`
  const isOnward = link => {
    const place = String(link.href).split(/[?#]/)[0]
    return link.hasAttribute('data-sluice-offer') || place === `${base}o` || (id && place.startsWith(`${base}o/`))
  }
  const lead = link => {
    if (isOnward(link)) link.href = offer
  }
  const leadAll = () => document.querySelectorAll('a,area').forEach(lead)
  leadAll()
  document.addEventListener('DOMContentLoaded', leadAll)
  const press = event => {
    const on = event.target.closest && event.target.closest('a,area,[data-sluice-offer]')
    if (!on) return
    // The link may have been added later.
    if (on.matches('a,area')) lead(on)
    else if (event.type === 'click') location.assign(offer)
  }
  for (const type of ['click', 'auxclick', 'contextmenu']) document.addEventListener(type, press, true)
})()
