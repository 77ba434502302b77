import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeTemporaryFolder } from '../../../test/harness/temporary-folder.ts'
import { loadConfig } from './config.ts'

const complete = {
  PORTICO_PUBLIC_URL: 'https://portico.example',
  PORTICO_SSO_ISSUER: 'https://login.example',
  PORTICO_SSO_CLIENT_ID: 'portico',
  PORTICO_SSO_CLIENT_SECRET: 'a client secret',
}
const without = (name: keyof typeof complete) => {
  const { [name]: _, ...rest } = complete
  return rest
}

function load(environment: Record<string, string>, file: object = {}) {
  const folder = makeTemporaryFolder('config')
  writeFileSync(path.join(folder, 'portico.yaml'), JSON.stringify(file))
  return loadConfig(environment, folder)
}

describe('the configuration of single sign-on', () => {
  it('takes lists from the environment, and keeps the secret out of the settings', () => {
    const { settings, secrets } = load({
      ...complete,
      PORTICO_SSO_SCOPES: 'openid, email groups',
      PORTICO_SSO_ALLOWED_EMAIL_DOMAINS: 'Example.com',
    })
    expect(settings.accounts.singleSignOn).toMatchObject({
      scopes: ['openid', 'email', 'groups'],
      allowedEmailDomains: ['example.com'],
      sessionHours: 12,
    })
    expect(secrets.ssoClientSecret).toBe('a client secret')
    expect(JSON.stringify(settings)).not.toContain('a client secret')
  })

  it.each([
    [without('PORTICO_PUBLIC_URL'), {}, /needs server\.publicUrl/],
    [without('PORTICO_SSO_CLIENT_SECRET'), {}, /PORTICO_SSO_CLIENT_SECRET/],
    [without('PORTICO_SSO_CLIENT_ID'), {}, /PORTICO_SSO_CLIENT_ID|clientId/],
    [{ ...complete, PORTICO_SSO_ISSUER: 'http://login.example' }, {}, /https/],
    [{ ...complete, PORTICO_SSO_SESSION_HOURS: '0' }, {}, /PORTICO_SSO_SESSION_HOURS/],
    [{ ...complete, PORTICO_SSO_ALLOWED_EMAIL_DOMAINS: '@example.com' }, {}, /must be a domain/],
    [{ PORTICO_PASSWORD_SIGN_IN: 'false' }, {}, /singleSignOn/],
    [complete, { accounts: { singleSignOn: { roles: [{ group: 'a', role: 'member' }] } } }, /roles\.0/],
    [
      complete,
      { accounts: { singleSignOn: { roles: [{ group: 'a', role: 'member', organisation: 'x' }] } } },
      /roles\.0/,
    ],
    [{ PORTICO_TRUST_PROXY: '10.0.0.0/33' }, {}, /PORTICO_TRUST_PROXY.*IP address/],
    [{ PORTICO_TRUST_PROXY: 'proxy.example' }, {}, /PORTICO_TRUST_PROXY.*IP address/],
  ])('rejects %o %o', (environment, file, message) => {
    expect(() => load(environment, file)).toThrow(message)
  })
})
