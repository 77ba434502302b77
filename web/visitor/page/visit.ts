import type { Proof, ProofChallenge, SiteConfigBody, VisitBody } from '@contract/site-visits.ts'
import type { Problem } from './history.ts'
import { solveProof } from './proof/solve-proof.ts'

/** A refused or failed call. `code` is of docs/use/errors.md, or `no_connection`. */
export class CallError extends Error {
  readonly status: number
  readonly code: string
  /** From the header `retry-after`. */
  readonly retryAfterSeconds: number | undefined

  constructor(status: number, code: string, retryAfterSeconds?: number) {
    super(code)
    this.name = 'CallError'
    this.status = status
    this.code = code
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** What a visitor reads about a failure. */
export function toProblem(error: unknown, now: number): Problem {
  if (!(error instanceof CallError)) return { kind: 'failed' }
  const kind = kinds[error.code] ?? byStatus[error.status] ?? 'failed'
  if (kind === 'budget') {
    const seconds = error.retryAfterSeconds
    return { kind, ...(seconds !== undefined && { retryAt: now + 1_000 * seconds }) }
  }
  return kind === 'rate' || kind === 'busy'
    ? { kind, retryAt: now + 1_000 * Math.min(error.retryAfterSeconds ?? (kind === 'rate' ? 60 : 0), 3_600) }
    : { kind }
}

const kinds: Record<string, Problem['kind']> = {
  site_paused: 'paused',
  insufficient_quota: 'budget',
  subscription_required: 'closed',
  rate_limit_exceeded: 'rate',
  password_required: 'password',
  not_signed_in: 'members',
  origin_not_allowed: 'closed',
  context_length_exceeded: 'long',
  no_connection: 'offline',
}
const byStatus: Record<number, Problem['kind']> = { 404: 'closed', 413: 'long', 429: 'busy', 502: 'busy', 503: 'busy' }

export interface Visits {
  config(): Promise<SiteConfigBody>
  /** A valid visit, made or renewed if it is needed. `onWork` is called while the browser solves a puzzle. */
  open(options?: { password?: string; onWork?: () => void }): Promise<VisitBody>
  /** A call with the session of the visit, which is renewed without a word if it has ended. */
  send(method: string, path: string, options?: { body?: unknown; signal?: AbortSignal }): Promise<Response>
}

/** Sessions end after 15 minutes; one that has less left than this is renewed before a call. */
const renewalMs = 3 * 60_000

interface Place {
  /** `/s/NAME` */
  base: string
  /** The origin of the website that embeds the chat. */
  embeddedBy: string | null
  /** Of this tab: keeps the session over a reload. */
  tab: Storage | undefined
  visitorId: string
  fetch: typeof fetch
  now: () => number
}

export function createVisits(place: Place): Visits {
  const { base, embeddedBy, tab, visitorId, now } = place
  const sessionKey = `portico.session.${base}.${embeddedBy}`
  let visit: VisitBody | undefined
  let endsAt = 0
  let password: string | undefined
  let opening: Promise<VisitBody> | undefined

  const post = (body: object) =>
    call(place.fetch, `${base}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ visitorId, embeddedBy, ...body }),
    })

  async function mint(onWork: () => void): Promise<VisitBody> {
    const former = visit?.session ?? read(tab, sessionKey)
    if (former !== undefined) {
      const renewed = await post({ session: former }).catch((error: unknown) => {
        if (error instanceof CallError && (error.status === 401 || error.status === 403)) return undefined
        throw error
      })
      if (renewed) return (await renewed.json()) as VisitBody
    }
    const fields = password === undefined ? {} : { password }
    const response = await post(fields).catch(async (error: unknown) => {
      if (!(error instanceof CallError) || error.code !== 'proof_of_work_required') throw error
      onWork()
      return post({ ...fields, proof: await prove() })
    })
    return (await response.json()) as VisitBody
  }

  async function prove(): Promise<Proof> {
    const response = await call(place.fetch, `${base}/challenge`, {})
    const challenge = (await response.json()) as ProofChallenge
    return { challenge, solution: await solveProof(challenge) }
  }

  const renew = (onWork: () => void = () => {}) =>
    (opening ??= mint(onWork)
      .then((minted) => {
        visit = minted
        endsAt = now() + minted.expiresInSeconds * 1_000
        write(tab, sessionKey, minted.session)
        return minted
      })
      .finally(() => (opening = undefined)))

  const current = (onWork?: () => void) =>
    visit !== undefined && endsAt - now() > renewalMs ? Promise.resolve(visit) : renew(onWork)

  return {
    async config() {
      return (await (await call(place.fetch, `${base}/config`, {})).json()) as SiteConfigBody
    },
    open(options = {}) {
      password = options.password ?? password
      return current(options.onWork)
    },
    async send(method, path, { body, signal } = {}) {
      const attempt = async ({ session }: VisitBody) =>
        call(place.fetch, `${base}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${session}`,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          ...(signal ? { signal } : {}),
        })
      return attempt(await current()).catch(async (error: unknown) => {
        if (!(error instanceof CallError) || error.code !== 'invalid_visit') throw error
        return attempt(await renew())
      })
    },
  }
}

async function call(send: typeof fetch, url: string, options: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await send(url, options)
  } catch (error) {
    if (options.signal?.aborted) throw error
    throw new CallError(0, 'no_connection')
  }
  if (response.ok) return response
  const body = (await response.json().catch(() => undefined)) as { error?: { code?: unknown } } | undefined
  const code = body?.error?.code
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  throw new CallError(
    response.status,
    typeof code === 'string' ? code : `http_${response.status}`,
    Number.isFinite(seconds) ? seconds : undefined,
  )
}

/** Browsers may refuse any access to their storage. */
export function read(storage: Storage | undefined, key: string): string | undefined {
  try {
    return storage?.getItem(key) ?? undefined
  } catch {
    return undefined
  }
}

export function write(storage: Storage | undefined, key: string, value: string): void {
  try {
    storage?.setItem(key, value)
  } catch {
    // It lasts as long as the page then.
  }
}
