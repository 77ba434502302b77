import type { AnswerCall, AnswerDependencies, PreparedAnswer } from './port.ts'
import { acceptsTools, type LiveCatalogue, offlineModelId } from '../../gateway/models/index.ts'
import { AppError, type Clock, createTimeSlices } from '../../platform/kernel/index.ts'
import { assertSubscription } from '../../tenants/organisations/index.ts'
import type { ProviderMessage } from '../../gateway/providers/index.ts'
import { removeMarkers } from './citations/citation-rewriter.ts'
import { openContextWindow } from './context/context-window.ts'
import { composeSystemPrompt } from './context/prompt.ts'
import { minimumContextTokens } from './search-query.ts'
import { assertRequiredFilter } from './find-passages.ts'
import { definitionsOf, loadOwnTools } from './tools/run-tools.ts'

/**
 * Checks everything that becomes a status code, before the first event of a stream: an expired subscription, exhausted credits, an
 * unavailable model, a question that is too long. Throws AppError.
 */
export async function prepareAnswer(dependencies: AnswerDependencies, call: AnswerCall): Promise<PreparedAnswer> {
  const { settings, instructions } = call.space
  assertRequiredFilter(call.space, call.filter)
  const { model, whenExhausted, limits } = chooseModelOrNote(dependencies, call)
  const hasTools = call.agentic && limits.tools
  const ownTools = hasTools ? await loadOwnTools(dependencies, call, limits) : []
  const system = composeSystemPrompt({ instructions, inline: call.inlineSources, hasOwnTools: ownTools.length > 0 })
  const window = await openContextWindow(
    dependencies.tokens,
    {
      ...limits,
      answerTokens: settings.maximumOutputTokens,
      passageTokens: settings.maximumPassageTokens,
      wholeTokens: settings.wholeSpaceTokens,
    },
    { system, turns: call.messages, omitted: call.omittedMessages ?? 0, owner: call.organisation.id },
  )
  if (hasTools) await window.add(JSON.stringify(definitionsOf(ownTools)))
  const earlier: ProviderMessage[] = []
  const slice = createTimeSlices()
  for (const turn of await window.keepRecent(call.messages.slice(0, -1))) {
    await slice()
    const content = turn.role === 'assistant' ? await removeMarkers(turn.content, call.signal) : turn.content
    earlier.push({ role: turn.role, content })
  }
  const canRewrite = limits.followsInstructions && limits.contextTokens >= minimumContextTokens
  const attributes = settings.attribution === 'auto' && limits.followsInstructions
  const onlyQuotes = !limits.followsInstructions
  return { model, whenExhausted, attributes, canRewrite, onlyQuotes, window, system, hasTools, ownTools, earlier }
}

/** A refusal has no entry in the ledger, so it is counted apart. */
function chooseModelOrNote(dependencies: AnswerDependencies, call: AnswerCall) {
  try {
    return chooseModel(dependencies, call)
  } catch (error) {
    if (error instanceof AppError) {
      const { organisation, space } = call
      const refusal = { organisationId: organisation.id, surface: 'space_chat', model: space.model } as const
      dependencies.ledger.noteRefused({ ...refusal, code: error.code })
    }
    throw error
  }
}

function chooseModel({ ledger, fallbackModel, findModel, now }: AnswerDependencies, call: AnswerCall) {
  const { organisation, space } = call
  assertSubscription(organisation, now())
  const hasCredit = ledger.hasCredit(organisation)
  const mayFallBack = space.settings.baseTierFallback && !call.spending
  const model = hasCredit ? space.model : mayFallBack ? fallbackModel(organisation) : undefined
  if (model === undefined) throw exhausted(call, ledger)
  const limits = findModel(organisation, model)
  if (!limits) {
    throw new AppError('model_not_found', `The Space's model ${model} is not available to its organisation.`)
  }
  return { model, limits, whenExhausted: hasCredit ? ('refuse' as const) : ('write_off' as const) }
}

/** The models of answers, as the catalogue has them at the moment. */
export function modelsOfAnswers(
  catalogue: Pick<LiveCatalogue, 'built' | 'resolve' | 'baseTierModels'>,
  clock: Pick<Clock, 'now'>,
): Pick<AnswerDependencies, 'findModel' | 'fallbackModel'> {
  return {
    findModel(organisation, id) {
      const resolved = catalogue.resolve(organisation, id, clock.now())
      if (resolved?.model.kind !== 'chat') return undefined
      const { model } = resolved
      const tools = acceptsTools(catalogue.built(), resolved)
      return { ...model, followsInstructions: model.id !== offlineModelId, tools }
    },
    fallbackModel: (organisation) => catalogue.baseTierModels(organisation, clock.now())[0]?.id,
  }
}

function exhausted({ organisation }: AnswerCall, ledger: AnswerDependencies['ledger']): AppError {
  if (organisation.monthlyBudgetPicoUsd === 0n)
    return new AppError('insufficient_quota', 'The organisation has no budget. The operator sets it.')
  const resets = new Date(ledger.budgetResetsAt(organisation)).toISOString()
  return new AppError(
    'insufficient_quota',
    `The organisation's monthly credits are exhausted; the budget resets at ${resets}.`,
  )
}
