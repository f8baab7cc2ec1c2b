/** The names of operating systems and browsers that clicks store, as the User-Agent parser gives them. */

const OS = [
  'Android, Android-x86, iOS, Windows, Windows Phone, Windows Mobile, Mac OS, Linux, Chromium OS, HarmonyOS, KaiOS, Tizen, webOS, watchOS',
  'AIX, Arch, Bada, BlackBerry, CentOS, Chromecast, Debian, Deepin, elementary OS, Fedora, Firefox OS, FreeBSD, Fuchsia, Gentoo, GNU, Haiku',
  'Kubuntu, Lubuntu, Xubuntu, Ubuntu, Maemo, Mageia, Mandriva, Manjaro, MeeGo, Mint, NetBSD, NetRange, NetTV, Nintendo, OpenBSD, openSUSE',
  'Palm, PlayStation, QNX, Raspbian, RIM Tablet OS, Red Hat, RedHat, Sailfish, Series40, Slackware, Solaris, SUSE, Symbian, Unix, Viera, Xbox',
]
const BROWSER = [
  'Chrome, Chrome WebView, Chrome Headless, Chromium, Safari, Mobile Safari, Firefox, Firefox Focus, Firefox Reality, Edge, IE',
  'IEMobile, Opera, Opera Mini, Opera Mobi, Opera Tablet, Opera GX, Opera Touch, Opera Coast, Samsung Internet, Android Browser, Brave, Vivaldi',
  'Yandex, DuckDuckGo, UCBrowser, MIUI Browser, Huawei Browser, Vivo Browser, Oculus Browser, Sailfish Browser, Tizen Browser, NokiaBrowser',
  'Facebook, Instagram, TikTok, Twitter, Snapchat, LinkedIn, Line, KakaoTalk, KakaoStory, WeChat, Weibo, Naver, Alipay, Klarna, GSA, Electron',
  '2345Explorer, 360 Browser, Avast Secure Browser, AVG Secure Browser, Baidu, Coc Coc, Comodo Dragon, Dolphin, Epiphany, Falkon, Heytap',
  'Iridium, Iron, Kindle, Konqueror, LBBROWSER, Maxthon, Midori, Mozilla, PaleMoon, PhantomJS, Puffin, QQ, QQBrowser, QQBrowserLite, Quark',
  'SeaMonkey, Silk, Sleipnir, Smart Lenovo Browser, Sogou Explorer, Sogou Mobile, Tesla, Viera, Waterfox, WebKit, Whale',
]

const AGENT_NAMES = { os: OS.join(', ').split(', '), browser: BROWSER.join(', ').split(', ') } as const

/** Names that people use for another one. */
const ALSO_CALLED: Readonly<Record<string, string>> = {
  iphone: 'iOS',
  ipad: 'iOS',
  ipados: 'iOS',
  mac: 'Mac OS',
  macos: 'Mac OS',
  macintosh: 'Mac OS',
  osx: 'Mac OS',
  chromeos: 'Chromium OS',
  win: 'Windows',
  internetexplorer: 'IE',
  safarimobile: 'Mobile Safari',
  wechat: 'WeChat',
}

const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '')

/** Whether a known name fits the value in the condition's way of comparing. */
export function isAgentName(field: 'os' | 'browser', value: string, match: 'is' | 'contains' | 'starts_with'): boolean {
  const sought = value.toLowerCase()
  return AGENT_NAMES[field].some(name => {
    const known = name.toLowerCase()
    return match === 'is' ? known === sought : match === 'contains' ? known.includes(sought) : known.startsWith(sought)
  })
}

/** The name that is probably meant by an unknown one: another spelling, or the longest name in the text. */
export function likelyAgentName(field: 'os' | 'browser', value: string): string | undefined {
  const sought = plain(value)
  const other = ALSO_CALLED[sought]
  if (other !== undefined && AGENT_NAMES[field].includes(other)) return other
  const within = AGENT_NAMES[field].filter(name => name.length > 2 && sought.includes(plain(name)))
  return within.toSorted((one, two) => two.length - one.length)[0]
}
