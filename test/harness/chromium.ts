import { existsSync } from 'node:fs'

const executablePath = '/usr/bin/chromium'

/** Browser suites and benches are skipped where Chromium is missing. */
export const hasBrowser = existsSync(executablePath)

/** For `launch` of playwright-core. Every launch has a fresh profile. */
export const chromiumOptions = {
  executablePath,
  headless: true,
  args: [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
}
