import { statfs } from 'node:fs/promises'
import { hostname } from 'node:os'
import net from 'node:net'
import tls from 'node:tls'
import type { OwnedDatabase } from '../../platform/database/index.ts'
import { type Clock, describeError, type Log, repeatWork } from '../../platform/kernel/index.ts'
import { recordCertificate, recordDisk } from './alerts.store.ts'

const reportEveryMs = 60_000

/** Reports the room on the disk of a folder, so that an instance elsewhere can raise the alert. */
export function createDiskReport(deps: { database: OwnedDatabase; folder: string; clock: Clock; log: Log }) {
  const { database, folder, clock, log } = deps
  async function report(): Promise<void> {
    const { bavail, blocks, bsize } = await statfs(folder)
    await recordDisk(database, {
      host: hostname(),
      folder,
      freeBytes: bavail * bsize,
      totalBytes: blocks * bsize,
    })
  }
  const onFailed = (error: unknown) => {
    // A process with a database server may have no data folder.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log.warn({ error: describeError(error) }, 'the room on the disk could not be reported')
  }
  const repeated = repeatWork({ clock, everyMs: reportEveryMs, work: report, onFailed })
  return { report: () => report().catch(onFailed), close: () => repeated.close() }
}

const certificatesEveryMs = 600_000
const connectTimeoutMs = 10_000

interface Dependencies {
  database: OwnedDatabase
  /** The address for clients; undefined, or without encryption: there is nothing to report. */
  publicUrl: string | undefined
  clock: Clock
  log: Log
}

/**
 * Reports when the certificate ends that the public address presents, so that any instance can raise the alert: in some networks not every
 * instance reaches that address.
 */
export function createCertificateReport({ database, publicUrl, clock, log }: Dependencies) {
  const url = publicUrl?.startsWith('https:') ? new URL(publicUrl) : undefined
  async function report(): Promise<void> {
    const endsAt = url && (await loadEnd(url))
    if (endsAt) await recordCertificate(database, { host: url.host, endsAt })
  }
  const onFailed = (error: unknown) =>
    log.warn({ error: describeError(error) }, 'the end of the certificate could not be reported')
  const repeated = repeatWork({ clock, everyMs: certificatesEveryMs, work: report, onFailed })
  return { report, close: () => repeated.close() }
}

/** The end of the certificate that a server presents, trusted or not; undefined: it cannot be reached. */
function loadEnd({ hostname, port }: URL): Promise<Date | undefined> {
  const host = hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve) => {
    const socket = tls.connect({
      host,
      port: port === '' ? 443 : Number(port),
      ...(net.isIP(host) === 0 && { servername: host }),
      // An expired certificate is what this looks for; nothing is sent.
      rejectUnauthorized: false,
    })
    const end = (endsAt?: Date) => {
      socket.destroy()
      resolve(endsAt)
    }
    socket.setTimeout(connectTimeoutMs, () => end())
    socket.on('error', () => end())
    socket.on('secureConnect', () => end(socket.getPeerX509Certificate()?.validToDate))
  })
}
