import { quickHashing } from '../../../../test/harness/quick-hashing.ts'
import type { Database } from '../../../platform/database/index.ts'
import { type Clock, createSecretBox, isAppError, silentLog, systemClock } from '../../../platform/kernel/index.ts'
import { type Accounts, createAccounts } from '../accounts.ts'

export const visitorPassword = 'correct horse battery staple'
const origin = 'http://127.0.0.1'
const operator = { name: 'operator', requestId: 'req_test' }

/** The accounts of one instance over `database`. Several over one database are several instances. */
export function openAccounts(database: Database, clock: Clock = systemClock, passwordSignIn = true): Accounts {
  return createAccounts({
    database,
    secret: 'the secret of these tests, with 32 characters or more',
    publicUrl: undefined,
    passwordSignIn,
    singleSignOn: undefined,
    secretBox: createSecretBox('the secret key of these tests, with 32 characters or more'),
    fetch,
    passwordHashing: quickHashing,
    clock,
    log: silentLog,
  })
}

/** Creates the account of an e-mail as a member, and resolves to the id of the person. */
export async function addPerson(accounts: Accounts, email: string, organisationId: string): Promise<string> {
  const { token } = await accounts.invite({ email, role: 'member', organisationId }, operator)
  return acceptAs(accounts, token, email)
}

/** Accepts an invitation with a new account. */
export function acceptAs(accounts: Accounts, token: string, name: string): Promise<string> {
  const account = { name, password: visitorPassword }
  return accounts.acceptInvitation(token, {
    person: undefined,
    account,
    requestId: 'req_test',
    clientAddress: '192.0.2.200',
  })
}

export interface VisitorAnswer {
  status: number
  body: Record<string, unknown>
}

export type Visitor = ReturnType<typeof openVisitor>

/** A browser with its cookies, which calls the endpoints below `/api/auth` without HTTP. */
export function openVisitor(accounts: Accounts, clientAddress = '192.0.2.1') {
  const cookies = new Map<string, string>()
  return {
    cookies,
    async post(path: string, body: object = {}, on: Accounts = accounts): Promise<VisitorAnswer> {
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
      const headers = new Headers(cookie === '' ? {} : { cookie })
      const request = { requestId: 'req_test', method: 'POST', path, headers, body, origin, clientAddress }
      try {
        const response = await on.handleSignIn(request)
        for (const [pair = '', ...attributes] of response.headers.getSetCookie().map((set) => set.split('; '))) {
          const name = pair.slice(0, pair.indexOf('='))
          if (attributes.includes('Max-Age=0')) cookies.delete(name)
          else cookies.set(name, pair.slice(name.length + 1))
        }
        return { status: response.status, body: ((await response.json()) ?? {}) as Record<string, unknown> }
      } catch (error) {
        if (!isAppError(error)) throw error
        return { status: error.code === 'rate_limit_exceeded' ? 429 : 400, body: { code: error.code } }
      }
    },
  }
}
