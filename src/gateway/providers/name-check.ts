import { lookup as resolveName } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import {
  anySignal,
  type Clock,
  type EndSignal,
  FairShares,
  publicNetworks,
  raceSignal,
  Turns,
} from '../../platform/kernel/index.ts'
import { guardedLookup, RefusedAddressError } from './guarded-connect.ts'

/** Longest wait for the names of one request. */
const defaultLongestMs = 10_000
/** Each occupies one of the four threads of the process that files need too; one organisation has at most one at a time. */
const lookupsAtOnce = 2
/** How long a verdict is kept. Names that are asked for again and again change less often. */
const keptMs = 60_000
const maximumKept = 1_000

export interface NameCheckOptions {
  clock: Pick<Clock, 'monotonicMs'>
  /** Default: the resolver of outgoing calls. */
  lookup?: LookupFunction | undefined
  /** A proxy resolves the names of the internet: those that this machine does not know are passed on. */
  passesUnknown: boolean
  /** Tests pass a shorter time. */
  longestMs?: number
}

interface AskedFor {
  tenant: string
  signal: EndSignal
}

export type NameCheck = ReturnType<typeof createNameCheck>

/**
 * Judges the names of hosts to which a provider is asked to connect: a provider in the operator's network would connect to what is inside.
 * The provider resolves the name once more, so a name that changes in between is not found here.
 */
export function createNameCheck({
  clock,
  lookup = resolveName as LookupFunction,
  passesUnknown,
  longestMs = defaultLongestMs,
}: NameCheckOptions) {
  const resolve = guardedLookup(publicNetworks(), lookup)
  const shares = new FairShares(lookupsAtOnce)
  const waiting = new Turns<{ tenant: string; begin: () => void }>()
  const known = new Map<string, { isPublic: Promise<boolean>; untilMs: number }>()

  function beginNext(): void {
    for (;;) {
      const next = waiting.takeNext(({ tenant }) => shares.hasRoom(tenant))
      if (!next) return
      shares.take(next.owner)
      next.item.begin()
    }
  }

  /** Other requests may wait for the same name, so none of them ends a lookup. */
  function findAddresses(name: string, tenant: string): Promise<boolean> {
    return new Promise((done) => {
      const begin = () =>
        resolve(name, { all: true }, (error, found) => {
          shares.release(tenant)
          if (error) done(passesUnknown && !(error instanceof RefusedAddressError))
          else done(found.length > 0)
          beginNext()
        })
      waiting.add(tenant, { tenant, begin })
      beginNext()
    })
  }

  function judge(name: string, tenant: string): Promise<boolean> {
    const nowMs = clock.monotonicMs()
    const kept = known.get(name)
    if (kept && kept.untilMs > nowMs) return kept.isPublic
    const isPublic = findAddresses(name, tenant)
    // The newest is the last.
    known.delete(name)
    known.set(name, { isPublic, untilMs: nowMs + keptMs })
    if (known.size > maximumKept) known.delete(known.keys().next().value!)
    return isPublic
  }

  return {
    /**
     * The first host that has no address, one that is not of the public internet, or none in time; undefined: there is none. Rejects with
     * the reason of the signal.
     */
    async findRefused(hosts: Iterable<string>, { tenant, signal }: AskedFor): Promise<string | undefined> {
      const late = AbortSignal.timeout(longestMs)
      const ended = anySignal(signal, late)
      for (const host of hosts) {
        // Literal addresses were judged where the request was read.
        if (isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0) continue
        const isPublic = await raceSignal(judge(host, tenant), ended).catch(() => {
          signal.throwIfAborted()
          return false
        })
        if (!isPublic) return host
      }
      return undefined
    },
  }
}
