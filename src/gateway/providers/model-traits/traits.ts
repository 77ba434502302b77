import type { z } from 'zod'
import type { modelTraitsSchema } from '../../../contract/model-traits.ts'
import type { FlavourName } from '../openai/flavours.ts'
import type { ProviderFormat } from '../../../contract/provider-formats.ts'

/**
 * What a model accepts on the wire, as data. `*-rules.ts` contain the facts with their sources, resolve.ts selects those of one model;
 * adapters read the result and contain no model names. An absent field means that nothing special is known: the client's value is sent.
 * The contract describes each field, because operators can declare it.
 */
export interface ModelTraits extends z.infer<typeof modelTraitsSchema> {
  /** It reasons before it answers. Absent: as in the price list. */
  reasoning?: boolean
  /** False: it refuses `temperature` and `top_p`. Absent: as in the price list. */
  acceptsTemperature?: boolean
}

/** A format, or a flavour of the OpenAI-compatible family. */
export type HostName = ProviderFormat | 'offline' | FlavourName

/** One fact, or several with one source. Later rules win over earlier ones, field by field. */
export interface TraitRule {
  /** `*`: every host. */
  hosts: readonly HostName[] | '*'
  /** Matched against the plain name of the model (plainName in resolve.ts). */
  models: RegExp
  traits: ModelTraits
  /** Reference of the vendor, or a user's report. */
  source: string
  /** Day on which the source was read. */
  checked: string
}

export interface ResolvedTraits extends ModelTraits {
  /** Sources of the facts. */
  sources: readonly { source: string; checked: string }[]
}
