import { lookup as resolveName, type LookupAddress, type LookupOptions } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import type { NetworkRule } from '../../platform/kernel/index.ts'

/** A connection that the network rule forbids. No byte was sent. */
export class RefusedAddressError extends Error {
  readonly code = 'ECONNREFUSED'
}

export type GuardedConnectOptions = buildConnector.BuildOptions & {
  rule: NetworkRule
  /** Tests pass their own. */
  lookup?: LookupFunction | undefined
}

/**
 * Connects only to addresses that the rule allows. It judges the addresses that the socket connects to, not the result of an earlier
 * resolution, so a name that changes its address between two resolutions gains nothing.
 */
export function guardedConnect(options: GuardedConnectOptions): buildConnector.connector {
  const { rule, lookup = resolveName as LookupFunction, ...rest } = options
  const connect = buildConnector({ ...rest, lookup: guardedLookup(rule, lookup) } as buildConnector.BuildOptions)
  return (target, callback) => {
    // Sockets resolve no literal address, and Node.js accepts scopes such as fe80::1%eth0.
    const refusal = rule.hostRefusal(target.hostname.split('%')[0]!)
    if (refusal !== undefined) return callback(new RefusedAddressError(`${target.hostname} is ${refusal}`), null)
    connect(target, (...result) => {
      const [, socket] = result
      // Before the listener of undici, which ends the exchange.
      socket?.on('error', (error: NodeJS.ErrnoException) => {
        if (socket.bytesRead > 0 && closedByHost.has(error.code!)) endsOfKept.add(error)
      })
      callback(...result)
    })
  }
}

const closedByHost = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
/** Errors of sockets that had received bytes. */
const endsOfKept = new WeakSet<Error>()

/** Whether an exchange that has received nothing failed with this error because its connection, kept from an earlier one, was closed. */
export function isEndOfKept(error: Error): boolean {
  return endsOfKept.has(error)
}

/** `dns.lookup` that fails if one of the addresses is refused: a name with a public and a private address is no accident. */
export function guardedLookup(rule: NetworkRule, lookup: LookupFunction): LookupFunction {
  return (hostname, options: LookupOptions, callback) =>
    lookup(hostname, options, (error, found, family) => {
      if (error) return callback(error, found, family)
      const addresses = typeof found === 'string' ? [found] : found.map(({ address }: LookupAddress) => address)
      for (const address of addresses) {
        const refusal = rule.refusal(address.split('%')[0]!)
        if (refusal !== undefined)
          return callback(new RefusedAddressError(`${hostname} resolves to ${address}, ${refusal}`), [], 0)
      }
      callback(null, found, family)
    })
}
