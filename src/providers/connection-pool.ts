import { getCACertificates } from 'node:tls'
import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici'
import { type ConnectionShares, createConnectionShares } from './connection-shares.ts'
import type { ProviderSettings } from './port.ts'

/** Proxies as the environment names them; empty or missing: none. */
export interface ProxySettings {
  httpProxy?: string | undefined
  httpsProxy?: string | undefined
  /** Hosts that are reached directly, comma-separated, `*` for all. */
  noProxy?: string | undefined
}

export interface PoolOptions {
  limits: ProviderSettings['limits']
  proxies?: ProxySettings | undefined
  /** PEM certificates that are trusted beside the system's own. */
  certificateAuthority?: string | undefined
}

/** Bounds of one provider's pool where its settings name none. */
export const defaultLimits = {
  connectTimeoutMs: 10_000,
  /** The compatible API's SDKs wait ten minutes for an answer; reasoning models use much of it. */
  headersTimeoutMs: 600_000,
  /** Reasoning models are silent for minutes between two deltas. */
  idleTimeoutMs: 300_000,
  /** One organisation uses at most half of them: as many as it may have calls at the same time. */
  maximumConnections: 512,
  /** An embedding batch of 256 texts with 4096 dimensions is about 20 MB as JSON. */
  maximumResponseBytes: 64 * 1024 * 1024,
} as const

/** Shorter than the idle limit of the usual load balancers (60 s), so that a kept socket is rarely a dead one. */
const keepAliveMs = 30_000
/** A name with an IPv6 and an IPv4 address: how long the first gets before the next is tried beside it (RFC 8305 says 250 ms). */
const nextAddressAfterMs = 250

/** Keep-alive connections to one provider, bounded in number and shared fairly between organisations. */
export interface ConnectionPool {
  readonly dispatcher: Dispatcher
  /** See ConnectionShares.enter. */
  enter: ConnectionShares['enter']
  /** Closes every socket; calls in flight end with an error. */
  close(): Promise<void>
}

export function createConnectionPool({ limits, proxies, certificateAuthority }: PoolOptions): ConnectionPool {
  const maximumConnections = limits?.maximumConnections ?? defaultLimits.maximumConnections
  const dispatcher = createDispatcher({ limits, proxies, certificateAuthority }, maximumConnections)
  const { enter } = createConnectionShares(maximumConnections)
  return { dispatcher, enter, close: () => dispatcher.destroy() }
}

function createDispatcher(options: PoolOptions, connections: number): Dispatcher {
  const { limits, proxies, certificateAuthority } = options
  const trust = certificateAuthority === undefined ? {} : { ca: withDefaultAuthorities(certificateAuthority) }
  const connect = {
    timeout: limits?.connectTimeoutMs ?? defaultLimits.connectTimeoutMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: nextAddressAfterMs,
    ...trust,
  }
  const common = {
    connections,
    // One call per connection at a time: a slow answer must not hold up another.
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    headersTimeout: limits?.headersTimeoutMs ?? defaultLimits.headersTimeoutMs,
    bodyTimeout: limits?.idleTimeoutMs ?? defaultLimits.idleTimeoutMs,
    connect,
  }
  if (!proxies?.httpProxy && !proxies?.httpsProxy) return new Agent(common)
  return new EnvHttpProxyAgent({
    ...common,
    requestTls: connect,
    proxyTls: connect,
    // Never undefined: the agent would read the environment by itself, and only config.ts does that.
    httpProxy: proxies.httpProxy ?? '',
    httpsProxy: proxies.httpsProxy ?? '',
    noProxy: proxies.noProxy ?? '',
  })
}

/** `ca` replaces the trusted list, so the usual authorities are named beside the operator's own. */
function withDefaultAuthorities(pem: string): string[] {
  return [...getCACertificates('default'), pem]
}
