import { fetch as undiciFetch } from 'undici'
import type { Config } from '../config/index.ts'
import { createConnectionPool } from '../../gateway/providers/index.ts'
import { readCertificates } from './settings-of-parts.ts'

type PoolOptions = Parameters<typeof createConnectionPool>[0]

/** `fetch` with the operator's certificates, that connects only to what `rule` accepts, if there is one. */
export function openFetch(
  config: Config,
  options: Pick<PoolOptions, 'limits' | 'rule' | 'proxies'>,
): { fetch: typeof fetch; close: () => Promise<void> } {
  const { dispatcher, close } = createConnectionPool({ ...options, certificateAuthority: readCertificates(config) })
  return {
    fetch: ((address: string, init: object) =>
      undiciFetch(address, { ...init, dispatcher })) as unknown as typeof fetch,
    close,
  }
}
