import type { Peer } from '../../platform/kernel/index.ts'
import { hostOf } from './host-of.ts'
import { flavours } from './openai/flavours.ts'
import type { ProviderSettings } from './port.ts'

/**
 * Names of the semantic conventions for hosts whose name here is another one. A host without a name there keeps ours; one that is only
 * known to be compatible with OpenAI counts as `openai`, which is the form of its calls.
 */
const systems: Partial<Record<string, string>> = {
  generic: 'openai',
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  gemini: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
}

/** A provider as traces name it. The address is absent where it depends on the call, such as the region of Bedrock. */
export function peerOf(settings: ProviderSettings): Peer {
  const host = hostOf(settings)
  const system = systems[host] ?? host
  const flavour: { baseUrl?: string } = settings.format === 'openai' ? flavours[host as keyof typeof flavours] : {}
  const url = URL.parse(settings.baseUrl ?? flavour.baseUrl ?? '')
  if (!url) return { system }
  return { system, address: url.hostname, port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)) }
}
