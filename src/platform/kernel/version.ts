import { readFileSync } from 'node:fs'

const packageFile = new URL('../../../package.json', import.meta.url)

/** Of package.json. */
export const { version } = JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }

/** The user agent of every outgoing call. */
export const userAgent = `portico/${version}`
