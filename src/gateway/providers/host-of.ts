import type { HostName } from './model-traits/traits.ts'
import { flavourName } from './openai/flavours.ts'
import type { ProviderSettings } from './port.ts'

/** The host's name in the rules of model-traits/: a flavour of the OpenAI-compatible family, or the format. */
export function hostOf(settings: ProviderSettings): HostName {
  return settings.format === 'openai' ? flavourName(settings) : settings.format
}
