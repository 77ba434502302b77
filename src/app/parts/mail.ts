import type { SendMail } from '../../tenants/alerts/index.ts'
import type { Config } from '../config/index.ts'
import { readCertificates } from './settings-of-parts.ts'

/** The operator's mail server; undefined: none is configured. Its module loads only if there is one. */
export async function openMail(config: Config): Promise<SendMail | undefined> {
  const { host, port, encryption, user, from } = config.settings.mail
  if (host === undefined || from === undefined) return undefined
  const { createSendMail } = await import('../../tenants/alerts/send-mail.ts')
  const certificateAuthority = readCertificates(config)
  return createSendMail({
    host,
    port,
    encryption,
    user,
    from,
    password: config.secrets.mailPassword,
    certificateAuthority,
  })
}
