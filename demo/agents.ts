// The browsers of the demo's traffic, parsed by Sluice's own parser, like those of real clicks.
import { type Agent, agentOf } from '../src/intake/clicks/agent.ts'
import { type Chance, pick, type Weighted } from './chance.ts'
import type { Origin } from './world.ts'

const ANDROID = 'Mozilla/5.0 (Linux; Android'
const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const IPHONE = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'

const agents = {
  androidChrome: [
    `${ANDROID} 14; SM-S911B) ${WEBKIT} Chrome/141.0.0.0 Mobile Safari/537.36`,
    `${ANDROID} 13; SM-A145F) ${WEBKIT} Chrome/140.0.0.0 Mobile Safari/537.36`,
    `${ANDROID} 12; Redmi Note 11) ${WEBKIT} Chrome/138.0.0.0 Mobile Safari/537.36`,
    `${ANDROID} 15; Pixel 8) ${WEBKIT} Chrome/142.0.0.0 Mobile Safari/537.36`,
  ],
  androidInApp: [
    `${ANDROID} 13; SM-A536B Build/TP1A; wv) ${WEBKIT} Version/4.0 Chrome/140.0.0.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/531.0.0.47.109;]`,
    `${ANDROID} 14; CPH2591 Build/UKQ1; wv) ${WEBKIT} Version/4.0 Chrome/139.0.0.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/529.0.0.43.110;]`,
  ],
  androidTikTok: [
    `${ANDROID} 12; Infinix X6816 Build/SP1A; wv) ${WEBKIT} Version/4.0 Chrome/138.0.0.0 Mobile Safari/537.36 trill_410204 BytedanceWebview/d8a21c6`,
    `${ANDROID} 13; moto g54 Build/T1TG; wv) ${WEBKIT} Version/4.0 Chrome/140.0.0.0 Mobile Safari/537.36 musical_ly_2024105030 BytedanceWebview/d8a21c6`,
  ],
  androidSamsung: [
    `${ANDROID} 14; SAMSUNG SM-A546B) ${WEBKIT} SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36`,
  ],
  iphoneSafari: [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) ${IPHONE} Version/18.1 Mobile/15E148 Safari/604.1`,
    `Mozilla/5.0 (iPhone; CPU iPhone OS 17_6_1 like Mac OS X) ${IPHONE} Version/17.6 Mobile/15E148 Safari/604.1`,
  ],
  iphoneInApp: [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) ${IPHONE} Mobile/22B83 [FBAN/FBIOS;FBAV/532.0.0.41.92;FBDV/iPhone14,5;FBSN/iOS;FBSV/18.1;]`,
  ],
  ipad: [`Mozilla/5.0 (iPad; CPU OS 17_6 like Mac OS X) ${IPHONE} Version/17.6 Mobile/15E148 Safari/604.1`],
  windowsChrome: [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/142.0.0.0 Safari/537.36`,
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36`,
  ],
  windowsEdge: [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0`],
  windowsFirefox: ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:132.0) Gecko/20100101 Firefox/132.0'],
  macSafari: [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${IPHONE} Version/18.1 Safari/605.1.15`],
  macChrome: [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Chrome/141.0.0.0 Safari/537.36`],
} as const
type AgentName = keyof typeof agents

const MIXES: Record<Origin, Weighted<AgentName>> = {
  meta: [
    ['iphoneInApp', 34],
    ['androidInApp', 31],
    ['iphoneSafari', 12],
    ['androidChrome', 11],
    ['windowsChrome', 7],
    ['ipad', 3],
    ['macSafari', 2],
  ],
  tiktok: [
    ['androidTikTok', 62],
    ['androidChrome', 17],
    ['iphoneSafari', 19],
    ['ipad', 2],
  ],
  google: [
    ['androidChrome', 31],
    ['iphoneSafari', 24],
    ['windowsChrome', 22],
    ['macSafari', 7],
    ['macChrome', 6],
    ['windowsEdge', 6],
    ['windowsFirefox', 4],
  ],
  push: [
    ['androidChrome', 78],
    ['androidSamsung', 9],
    ['windowsChrome', 11],
    ['windowsFirefox', 2],
  ],
  telegram: [
    ['androidChrome', 58],
    ['iphoneSafari', 29],
    ['windowsChrome', 13],
  ],
}

/** Crawlers and link previews, by where the link was posted. */
const CRAWLERS: Record<Origin, readonly string[]> = {
  meta: ['facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)'],
  tiktok: [
    'Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; Bytespider; spider-feedback@bytedance.com)',
  ],
  google: ['AdsBot-Google (+http://www.google.com/adsbot.html)'],
  push: ['Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)'],
  telegram: ['TelegramBot (like TwitterBot)'],
}

export function drawAgent(chance: Chance, origin: Origin, isCrawler: boolean): Agent {
  const list = isCrawler ? CRAWLERS[origin] : agents[pick(chance, MIXES[origin])]
  return agentOf(list[Math.floor(chance() * list.length)])
}
