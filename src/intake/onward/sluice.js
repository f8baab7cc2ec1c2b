// <script src="https://your-tracker/sluice.js" data-click="click_id" defer></script>
// Reads the click id from the URL, marks the click as landed, and points links to /o, or with data-sluice-offer, at its offer.
// With data-campaign: reports the visit itself. With data-bot: reports a Mini App's launch.
;(() => {
  const script = document.currentScript
  if (!script || !script.src) return
  const base = new URL('.', script.src).href
  const { bot, campaign, consent, storage, decorate, click } = script.dataset
  // A second tag of the campaign on the page would count a second visit.
  if (campaign && (window.sluice || {}).campaign === campaign) return
  const name = click || 'click_id'
  const KEY = campaign ? `sluice_${campaign}` : 'sluice_click'
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
  const whenShown = deed =>
    document.prerendering ? document.addEventListener('prerenderingchange', deed, { once: true }) : deed()
  const beacon = (path, body) => attempt(() => navigator.sendBeacon(base + path, body))
  let isAllowed = consent !== 'wait'
  /** Resolves with the answer; with false for a refusal, with null if three tries fail. */
  const post = (path, body, waits = [1000, 5000]) =>
    new Promise(go => go(fetch(base + path, { method: 'POST', body, keepalive: true })))
      .then(answer => (answer.ok ? answer.json() : answer.status > 499 ? Promise.reject() : false))
      .catch(() =>
        waits[0]
          ? new Promise(go => setTimeout(go, waits[0])).then(() =>
              isAllowed ? post(path, body, waits.slice(1)) : null,
            )
          : null,
      )

  if (bot) {
    const body =
      attempt(() => Telegram.WebApp.initData) || new URLSearchParams(location.hash.slice(1)).get('tgWebAppData')
    const tell = left =>
      fetch(`${base}m/${bot}`, { method: 'POST', body, keepalive: true })
        .then(({ status }) => status < 500 || Promise.reject())
        .catch(() => left && setTimeout(tell, 5000, left - 1))
    return body && tell(2)
  }

  /** Where the links lead now. */
  let offer
  let id
  const isOnward = link => {
    const place = String(link.href).split(/[?#]/)[0]
    const isAny = campaign || id
    return link.hasAttribute('data-sluice-offer') || place === `${base}o` || (isAny && place.startsWith(`${base}o/`))
  }
  const hosts = (decorate || '').split(/\s+/).map(pair => pair.match(/^(.+):([^:]+)$/) || [])
  const lead = link => {
    if (isOnward(link)) link.href = offer()
    const [, , parameter] = hosts.find(([, host]) => host && host === link.host) || []
    if (!parameter || !id) return
    const url = new URL(link.href)
    const others = url.search.slice(1).split('&')
    // As text, because URLSearchParams would write the other parameters anew.
    url.search = [...others.filter(pair => pair && pair.split('=')[0] !== parameter), `${parameter}=${id}`].join('&')
    link.href = url
  }
  const press = event => {
    // Also through shadow roots.
    const on = event
      .composedPath()
      .find(one => one.matches && one.matches('a:not([href^="#"]),area,[data-sluice-offer]'))
    if (!on) return
    // The link may have been added later.
    if (on.href) return lead(on)
    if (event.type !== 'click') return
    // A button would submit its form.
    event.preventDefault()
    location.assign(offer())
  }
  for (const type of ['pointerdown', 'click', 'auxclick', 'contextmenu']) document.addEventListener(type, press, true)

  if (campaign) {
    const path = `v/${campaign}`
    const TOKEN = `${KEY}_t`
    /** The page token, the click that was known before, and the report that is not acknowledged yet. */
    let token, had, report
    /** @type {Promise<string | null>} */
    let last = Promise.resolve(null)
    const keep = (key, text) => storage === 'none' || attempt(() => sessionStorage.setItem(key, text))
    const keepCookie = (text, seconds) =>
      storage === 'none' ||
      attempt(() => (document.cookie = `${KEY}=${text}; path=/; samesite=lax; max-age=${seconds}`))
    const drop = key => attempt(() => sessionStorage.removeItem(key))
    const fresh = () =>
      btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))))
        .slice(0, 22)
        .replace(/\+/g, '-')
        .replace(/\//g, '_')
    const known = () => (storage === 'none' ? undefined : session(KEY) || cookie())
    /** `isLoad`: of the page that was loaded; a reload of it is the same visit. */
    const visit = isLoad => {
      if (!isAllowed) return Promise.resolve(null)
      const begin = done => {
        // It may have been refused while the page was not shown.
        if (!isAllowed) return done(null)
        const u = location.href
        // A page that was left before the answer sends its token again.
        const [old, at] = ((isLoad && session(TOKEN)) || '').split(' ')
        const t = (token = at === u ? old : fresh())
        keep(TOKEN, `${t} ${u}`)
        id = undefined
        had = isLoad ? known() : undefined
        const body = (report = JSON.stringify({ t, u, r: document.referrer, c: had }))
        post(path, body).then(answer => {
          if (isAllowed && token === t) {
            id = shown.click_id = (answer && answer.click_id) || null
            if (answer === false) token = undefined
            if (answer !== null) {
              report = undefined
              drop(TOKEN)
            }
            if (id) {
              keep(KEY, id)
              keepCookie(id, 2592000)
            }
          }
          done((answer && answer.click_id) || null)
        })
      }
      return (last = new Promise(done => whenShown(() => attempt(() => begin(done) || 1) || done(null))))
    }
    offer = () => {
      const text = encodeURIComponent
      if (id) return `${base}o/${id}`
      if (!token) return `${base}o?k=${campaign}`
      // A longer address would be refused.
      return `${base}o/v/${token}?k=${campaign}&u=${text(location.href.slice(0, 3000))}&r=${text(document.referrer.slice(0, 500))}${had ? `&c=${text(had)}` : ''}`
    }
    const shown = (window.sluice = {
      campaign,
      click_id: null,
      visit: () => visit(),
      consent(isGiven) {
        const wasAllowed = isAllowed
        isAllowed = !!isGiven
        if (isAllowed && !wasAllowed) void visit(true)
        if (isAllowed) return
        id = token = report = undefined
        shown.click_id = null
        last = Promise.resolve(null)
        drop(KEY)
        drop(TOKEN)
        keepCookie('', 0)
      },
      convert: (type, more) =>
        last
          .then(of => of && isAllowed && post(`k/${of}`, JSON.stringify({ type, ...more })))
          .then(answer => (answer ? answer.status : null))
          .catch(() => null),
    })
    addEventListener('pagehide', () => report && beacon(path, report))
    return visit(true)
  }

  const sent = new URLSearchParams(location.search).get(name)
  id = [sent, session(KEY), cookie()].find(text => text && ID.test(text))
  if (id) {
    attempt(() => sessionStorage.setItem(KEY, id))
    // For pages of this site in other tabs.
    attempt(() => (document.cookie = `${KEY}=${id}; path=/; samesite=lax`))
    window.sluice = { click_id: id }
  }
  // Without an id the tracker uses its own cookie.
  offer = () => (id ? `${base}o/${id}` : `${base}o`)

  whenShown(() => {
    if (!id || session(`${KEY}_landed`) === id) return
    if (!beacon(`l/${id}`))
      attempt(() => fetch(`${base}l/${id}`, { method: 'POST', mode: 'no-cors', keepalive: true }).catch(() => {}))
    attempt(() => sessionStorage.setItem(`${KEY}_landed`, id))
  })
  const leadAll = () => document.querySelectorAll('a,area').forEach(lead)
  leadAll()
  document.addEventListener('DOMContentLoaded', leadAll)
})()
