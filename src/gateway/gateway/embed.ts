import { AppError, noUsage, type StatedUsage } from '../../platform/kernel/index.ts'
import type { ResolvedModel } from '../models/index.ts'
import { estimateEach } from './prompt-size.ts'
import { callMetered, type MeteredDependencies } from './metered-call.ts'
import type { EmbeddingCall, EmbeddingResult, Embeddings } from './port.ts'
import { modelNotFound } from './find-deployments.ts'

/** What a provider has embedded so far. */
interface EmbeddedPart {
  texts: number
  promptTokens: number | null
  stated?: StatedUsage
}

/** Embeddings like completions: model → hold → provider → settle. Throws AppError. */
export function createEmbeddings(dependencies: MeteredDependencies): Embeddings {
  return { embed: (call) => embed(dependencies, call) }
}

async function embed(dependencies: MeteredDependencies, call: EmbeddingCall): Promise<EmbeddingResult> {
  const { catalogue, tokens: counting } = dependencies
  const { texts, tokens, dimensions, purpose, model } = call
  const resolved = resolveFor(dependencies, call)
  const counts = tokens ? tokens.map(countOf) : await estimateEach(texts)
  const inputs = tokens ?? texts
  const { answer, receipt, rate } = await callMetered(dependencies, {
    ...call,
    resolved,
    size: {
      promptTokensBound: counts.reduce((sum, count) => sum + count.bound, 0),
      promptTokensEstimate: counts.reduce((sum, count) => sum + count.estimate, 0),
      outputCapTokens: 0,
      modelMaxOutputTokens: 0,
    },
    async send(deployment, options) {
      const provider = catalogue.provider(deployment)
      if (!provider.embed) throw new AppError('model_not_found', `The provider of \`${model}\` has no embeddings.`)
      const answered = await provider.embed({
        ...options,
        model: deployment.wire,
        texts,
        ...(tokens && { tokens }),
        ...(dimensions !== undefined && { dimensions }),
        purpose,
      })
      return { ...answered, texts: inputs.length }
    },
    measure: async (part: EmbeddedPart) => ({
      usage: {
        ...noUsage,
        promptTokens: part.promptTokens ?? (await countPart(part)),
        ...(part.stated && { stated: part.stated }),
      },
      estimated: part.promptTokens === null,
    }),
  })
  return { vectors: answer.vectors, promptTokens: receipt.usage.promptTokens, receipt, rate }

  async function countPart(part: EmbeddedPart): Promise<number> {
    if (tokens) return counts.slice(0, part.texts).reduce((sum, { estimate }) => sum + estimate, 0)
    return counting.count(texts.slice(0, part.texts), call.organisation.id)
  }
}

const countOf = ({ length }: number[]) => ({ estimate: length, bound: length })

/** The model, with the deployments that take the form of the inputs. Throws AppError. */
function resolveFor({ catalogue, clock }: MeteredDependencies, call: EmbeddingCall): ResolvedModel {
  const { organisation, model, tokens } = call
  const resolved = catalogue.resolve(organisation, model, clock.now())
  if (!resolved || resolved.model.kind !== 'embedding' || resolved.model.dimensions === null)
    throw modelNotFound(model, 2)
  if (!tokens) return resolved
  const deployments = resolved.deployments.filter((deployment) => catalogue.provider(deployment).embedsTokens === true)
  if (deployments.length > 0) return { ...resolved, deployments }
  throw new AppError('unsupported_parameter', '`input`: the provider of this model takes texts, not tokens.', {
    param: 'input',
  })
}
