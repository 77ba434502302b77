import { AppError, clientNetwork, isAppError } from '../../platform/kernel/index.ts'
import type { KnownDevices, PasswordAccount } from './known-devices.ts'
import type { Person } from './person.ts'
import type { SignInEndpoint } from './sign-in-endpoints.ts'
import type { SignInLimits, Visitor } from './sign-in-limits.ts'
import { fieldOf, type SignInRequest } from './sign-in-request.ts'

interface SecretGuardDependencies {
  limits: SignInLimits
  devices: KnownDevices
  loadPasswordAccount: (
    of: { email: string } | { personId: string | undefined },
  ) => Promise<PasswordAccount | undefined>
  /** Ends the sign-ins of a person that wait for the second factor. */
  endChallenges: (personId: string) => Promise<void>
  /** The person of the session. */
  findPerson: (headers: Headers) => Promise<Person | undefined>
  /** The person whose second factor is still to be checked. */
  findChallenged: (cookies: string) => Promise<string | undefined>
}

/**
 * Runs a request of sign-in after it has counted it, and the secret that it states. Throws `rate_limit_exceeded` and `not_signed_in`. A
 * secret that cannot be counted for a person is refused. `run` lets the library check the secret.
 */
export function createSecretGuard(dependencies: SecretGuardDependencies) {
  const { limits, devices, loadPasswordAccount, endChallenges, findPerson, findChallenged } = dependencies

  async function identify(request: SignInRequest, { secret, needsSession }: SignInEndpoint): Promise<Visitor> {
    const cookies = request.headers.get('cookie')
    const person = await findPerson(request.headers)
    const isCode = secret !== undefined && secret !== 'password'
    const challenged = isCode && cookies !== null ? await findChallenged(cookies) : undefined
    const network = clientNetwork(request.clientAddress)
    const visitor: Visitor = { network, person, challenged, device: undefined }
    if (secret === undefined || needsSession || !devices.isNamed(cookies)) return visitor
    const account = await loadPasswordAccount(isCode ? { personId: challenged } : { email: emailIn(request) })
    return { ...visitor, device: account && devices.find(cookies, account) }
  }

  /** Undefined if the code was used. A session and a pending sign-in can be of two people: the library decides whose code it checks. */
  async function reserveCode(request: SignInRequest, { person, challenged }: Visitor) {
    const people = new Set([person?.id, challenged].filter((id) => id !== undefined))
    const code = String(fieldOf(request, 'code'))
    const reserved = await Promise.all([...people].map((id) => limits.reserveCode(id, code)))
    const free = async () => {
      await Promise.all(reserved.map((one) => one?.()))
    }
    if (reserved.every((one) => one !== undefined)) return free
    await free()
    return undefined
  }

  async function rememberDevice(request: SignInRequest, response: Response, { person, challenged }: Visitor) {
    const personId = person?.id ?? challenged
    const account = await loadPasswordAccount(personId === undefined ? { email: emailIn(request) } : { personId })
    if (account) response.headers.append('set-cookie', devices.remember(request.headers.get('cookie'), account))
  }

  return async (
    request: SignInRequest,
    endpoint: SignInEndpoint,
    run: (person: Person | undefined) => Promise<Response>,
  ): Promise<Response> => {
    const visitor = await identify(request, endpoint)
    await limits.countRequest(visitor)
    const { person, challenged } = visitor
    const { secret, needsSession } = endpoint
    if (secret === undefined) return run(person)
    if (needsSession && !person) throw new AppError('not_signed_in', 'Sign in first.')
    if (secret !== 'password' && !person && challenged === undefined) return refuse('INVALID_TWO_FACTOR_COOKIE')
    const email = secret === 'password' && !needsSession ? emailIn(request) : undefined
    const giveBack = await limits.countSecret(secret, email, visitor)
    const free = secret === 'one-time code' ? await reserveCode(request, visitor) : noCode
    if (!free) return refuse('INVALID_CODE')
    const response = await run(person).catch(async (error: unknown) => {
      await free()
      // The secret was not checked.
      if (isAppError(error, 'overloaded')) await giveBack()
      throw error
    })
    await (response.ok || isOvertaken(response, endpoint) ? giveBack() : free())
    if (response.ok && person && endpoint.change?.action === 'person.password_changed') await endChallenges(person.id)
    if (response.ok && startsSession(response)) await rememberDevice(request, response, visitor)
    return response
  }
}

/** A right backup code: another code of the person was used at the same time, so the library could not write the codes that are left. */
const isOvertaken = ({ status }: Response, { secret }: SignInEndpoint) => secret === 'backup code' && status === 409

const noCode = async () => undefined

/** As the library compares it. Attempts are counted for unknown e-mails too. */
const emailIn = (request: SignInRequest) => String(fieldOf(request, 'email')).toLowerCase()

/** The first step of a sign-in with a second factor clears the cookie of the session. */
const startsSession = ({ headers }: Response) =>
  headers.getSetCookie().some((cookie) => /^[\w.-]*session_token=[^;]/.test(cookie))

/** A refusal in the form of the library. */
function refuse(code: 'INVALID_CODE' | 'INVALID_TWO_FACTOR_COOKIE'): Response {
  const message = code === 'INVALID_CODE' ? 'Invalid code' : 'Invalid two factor cookie'
  return Response.json({ message, code }, { status: 401 })
}
