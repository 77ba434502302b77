import { rootCertificates } from 'node:tls'
import { createTransport } from 'nodemailer'

/** Sends a plain text by the operator's mail server. Rejects when the server does not accept it. */
export type SendMail = (message: { id: string; to: readonly string[]; subject: string; text: string }) => Promise<void>

export interface MailServer {
  host: string
  port: number
  /** `tls`: from the first byte. `starttls`: before the password. `none`: never, for servers on the same machine. */
  encryption: 'tls' | 'starttls' | 'none'
  /** Undefined: the server accepts messages without a password. */
  user: string | undefined
  password: string | undefined
  from: string
  /** PEM of further certificate authorities. */
  certificateAuthority: string | undefined
}

const connectMs = 10_000
const silenceMs = 15_000

/** Each message has a separate connection: alerts are few. */
export function createSendMail(server: MailServer): SendMail {
  const { host, port, encryption, user, password, from, certificateAuthority } = server
  const transport = createTransport({
    host,
    port,
    secure: encryption === 'tls',
    requireTLS: encryption === 'starttls',
    ignoreTLS: encryption === 'none',
    ...(user !== undefined && { auth: { user, pass: password ?? '' } }),
    ...(certificateAuthority !== undefined && { tls: { ca: [...rootCertificates, certificateAuthority] } }),
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silenceMs,
    // A message is text of this service; addresses and files are never read from it.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return async ({ id, to, subject, text }) => {
    await transport.sendMail({
      from,
      to: [...to],
      subject,
      text,
      // The same for each attempt, so that mail programs can recognise repeats.
      messageId: `<${id}@${host}>`,
      headers: { 'auto-submitted': 'auto-generated' },
    })
  }
}
