import { invalidField } from '../../../platform/kernel/index.ts'
import type { ProviderSettings } from '../port.ts'

/** The region for which calls are signed. Throws AppError if none is set: data must never go to a place that was not configured. */
export function requireRegion(settings: ProviderSettings): string {
  if (settings.region && /^[a-z0-9-]+$/.test(settings.region)) return settings.region
  throw invalidField('region', 'Bedrock needs a region such as eu-central-1.')
}

/** Address for model calls. */
export function runtimeRoot(settings: ProviderSettings): string {
  return rootOf(settings, 'bedrock-runtime')
}

/** Address for the model list. */
export function controlRoot(settings: ProviderSettings): string {
  return rootOf(settings, 'bedrock')
}

function rootOf(settings: ProviderSettings, service: string): string {
  if (settings.baseUrl) return settings.baseUrl.replace(/\/+$/, '')
  const region = requireRegion(settings)
  return `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}
