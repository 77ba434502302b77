import { type EndSignal, invalidField } from '../../platform/kernel/index.ts'
import { isParts } from '../conversation/index.ts'
import type { NameCheck, ProviderRequest } from '../providers/index.ts'

/** The hosts to which a provider is asked to connect, each with the first field that names it. */
function givenHosts({ messages, hostedTools = [] }: ProviderRequest): Map<string, string> {
  const hosts = new Map<string, string>()
  const add = (url: string, field: string) => {
    const { hostname } = new URL(url)
    if (!hosts.has(hostname)) hosts.set(hostname, field)
  }
  for (const { content } of messages) {
    if (!isParts(content)) continue
    for (const part of content)
      if ('source' in part && part.source.kind === 'url') add(part.source.url, part.source.field ?? 'messages')
  }
  for (const { server } of hostedTools) if (server) add(server.url, server.field)
  return hosts
}

/** Rejects with `invalid_request` if the name of a host leads elsewhere than to the public internet, or nowhere. At once without names. */
export function assertPublicHosts(
  request: ProviderRequest,
  { organisation, signal }: { organisation: { id: string }; signal: EndSignal },
  names: NameCheck,
): Promise<void> | undefined {
  const hosts = givenHosts(request)
  return hosts.size === 0 ? undefined : assertEach(hosts, names, { tenant: organisation.id, signal })
}

async function assertEach(hosts: Map<string, string>, names: NameCheck, by: Parameters<NameCheck['findRefused']>[1]) {
  const refused = await names.findRefused(hosts.keys(), by)
  if (refused === undefined) return
  const param = hosts.get(refused)!
  throw invalidField(
    param,
    `\`${param}\` must be an address of the public internet: its name is not one of it, or cannot be resolved.`,
  )
}
