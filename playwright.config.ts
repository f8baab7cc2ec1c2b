/** The dashboard's tests in the machine's own Chromium. Each worker starts its own Sluice (tests/browser/dashboard.ts). */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from '@playwright/test'
import { findProgram } from './tests/support/programs.ts'

const chromium = process.env['CHROMIUM'] ?? findProgram('chromium-headless-shell') ?? findProgram('chromium')

/** Specs whose Sluice has its own settings. */
const WITH_TELEGRAM = ['bots', 'broadcasts', 'channels', 'joins', 'subscribers'].map(name => `**/${name}.spec.ts`)
const WITH_SETTINGS = ['**/domains.spec.ts', '**/second-factor.spec.ts', '**/spend-accounts.spec.ts', ...WITH_TELEGRAM]

export default defineConfig({
  testDir: 'tests/browser',
  build: { external: ['**/*.ts'] },
  outputDir: join(tmpdir(), 'sluice-browser-results'),
  // Generous deadlines, because everything takes ten times as long on a loaded machine.
  timeout: 180_000,
  expect: { timeout: 30_000 },
  workers: 2,
  // Tests with @detail in their title run if their file is named, or with SLUICE_DETAILS=1.
  ...(process.env['SLUICE_DETAILS'] === '1' ? {} : { grepInvert: /@detail/ }),
  // Specs with settings run last, because a worker that gets other settings starts again, with a new Sluice and browser.
  projects: [
    { name: 'as it comes', testIgnore: WITH_SETTINGS },
    { name: 'with settings', testMatch: WITH_SETTINGS },
  ],
  use: {
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    // Playwright clears the context between tests. With a new context the browser would compile the dashboard again.
    reuseContext: true,
    launchOptions: {
      ...(chromium === undefined ? {} : { executablePath: chromium }),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--no-first-run',
        // All pages belong to one site, so one renderer is enough for them.
        '--disable-site-isolation-trials',
        '--renderer-process-limit=1',
      ],
    },
  },
})
