import { lookup as resolveName } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { getCACertificates } from 'node:tls'
import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici'
import { type NetworkRule, notMetadata } from '../../platform/kernel/index.ts'
import { type ConnectionShares, createConnectionShares } from './connection-shares.ts'
import { guardedConnect, guardedLookup } from './guarded-connect.ts'
import type { ProviderSettings } from './port.ts'

/** Proxies from the environment; empty or missing: none. */
export interface ProxySettings {
  httpProxy?: string | undefined
  httpsProxy?: string | undefined
  /** Hosts that are connected to directly, comma-separated; `*` for all. */
  noProxy?: string | undefined
}

export interface PoolOptions {
  limits: ProviderSettings['limits']
  proxies?: ProxySettings | undefined
  /** PEM certificates that are trusted in addition to the system's. */
  certificateAuthority?: string | undefined
  /** Addresses that may be connected to; by default all but the metadata services of clouds. */
  rule?: NetworkRule | undefined
  /** Tests pass their own. */
  lookup?: LookupFunction | undefined
}

/** Bounds of one provider's pool if its settings have none. */
export const defaultLimits = {
  connectTimeoutMs: 10_000,
  /** The compatible API's SDKs wait ten minutes for an answer; reasoning models use much of it. */
  headersTimeoutMs: 600_000,
  /** Reasoning models are silent for minutes between two deltas. */
  idleTimeoutMs: 300_000,
  /** One organisation uses at most half of them, which equals its limit of concurrent calls. */
  maximumConnections: 512,
  /** An embedding batch of 256 texts with 4096 dimensions is about 20 MB as JSON. */
  maximumResponseBytes: 64 * 1024 * 1024,
} as const

/** Shorter than the idle limit of common load balancers (60 s), so that a kept socket is rarely closed. */
const keepAliveMs = 30_000
/**
 * For a name with an IPv6 and an IPv4 address: how long the first gets before the next is tried in parallel (RFC 8305 recommends 250 ms).
 */
const nextAddressAfterMs = 250

/** Keep-alive connections to one provider, bounded in number and shared fairly between organisations. */
export interface ConnectionPool {
  readonly dispatcher: Dispatcher
  /** Whose connections are new and serve one exchange each. */
  readonly unkept: Dispatcher
  /** See ConnectionShares.enter. */
  enter: ConnectionShares['enter']
  enterAtOnce: ConnectionShares['enterAtOnce']
  view: ConnectionShares['view']
  /** Closes every socket; calls in flight end with an error. */
  close(): Promise<void>
}

export function createConnectionPool(options: PoolOptions): ConnectionPool {
  const { limits } = options
  const maximumConnections = limits?.maximumConnections ?? defaultLimits.maximumConnections
  // One call per connection at a time: a slow answer must not delay another.
  const dispatcher = createDispatcher(options, { connections: maximumConnections, pipelining: 1 })
  const unkept = createDispatcher(options, { connections: maximumConnections, pipelining: 0 })
  const { enter, enterAtOnce, view } = createConnectionShares(maximumConnections)
  return {
    dispatcher,
    unkept,
    enter,
    enterAtOnce,
    view,
    async close() {
      await Promise.all([dispatcher.destroy(), unkept.destroy()])
    },
  }
}

function createDispatcher(options: PoolOptions, use: { connections: number; pipelining: 0 | 1 }): Dispatcher {
  const { limits, proxies, certificateAuthority, rule = notMetadata } = options
  const lookup = options.lookup ?? (resolveName as LookupFunction)
  const trust = certificateAuthority === undefined ? {} : { ca: withDefaultAuthorities(certificateAuthority) }
  const connect = {
    timeout: limits?.connectTimeoutMs ?? defaultLimits.connectTimeoutMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: nextAddressAfterMs,
    // Without bytes waiting in it, a paused socket is not read, so answers that wait for their turn take no time of the event loop.
    highWaterMark: 1,
    ...trust,
  }
  const common = {
    ...use,
    keepAliveTimeout: keepAliveMs,
    headersTimeout: limits?.headersTimeoutMs ?? defaultLimits.headersTimeoutMs,
    bodyTimeout: limits?.idleTimeoutMs ?? defaultLimits.idleTimeoutMs,
    connect: guardedConnect({ ...connect, rule, lookup }),
  }
  if (!proxies?.httpProxy && !proxies?.httpsProxy) return new Agent(common)
  return new EnvHttpProxyAgent({
    ...common,
    // The proxy resolves the names of targets, and must refuse metadata services itself.
    requestTls: connect,
    proxyTls: { ...connect, lookup: guardedLookup(notMetadata, lookup) },
    // Never undefined: otherwise the agent reads the environment, and only config.ts may.
    httpProxy: proxies.httpProxy ?? '',
    httpsProxy: proxies.httpsProxy ?? '',
    noProxy: proxies.noProxy ?? '',
  })
}

/** `ca` replaces the trusted list, so it contains the default authorities as well as the operator's. */
function withDefaultAuthorities(pem: string): string[] {
  return [...getCACertificates('default'), pem]
}
