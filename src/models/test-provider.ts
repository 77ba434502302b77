import type { ProviderTest } from '../contract/models.ts'
import { AppError, type Clock, type RequestId, describeError } from '../kernel/index.ts'
import { type Provider, ProviderError } from '../providers/index.ts'
import type { BuiltModel } from './build-catalogue.ts'
import type { DeploymentHealth } from './deployment-health.ts'
import { priceInForce } from './find-model.ts'

/** A test fails after this time. */
const testTimeoutMs = 30_000
/** Enough for one word. If a reasoning model uses it up, the key and the model work too. */
const testOutputTokens = 16

type Entry = { model: BuiltModel; deployment: BuiltModel['all'][number]['deployment'] }

/**
 * Sends one small real call to a provider and returns the result. `model` (a model id, deployment id or id on the wire) selects the model;
 * the default is the cheapest chat model. The call is not billed to an organisation; the provider bills the operator's account. The result
 * updates the health of the deployment; a rejected key updates all deployments of the provider.
 */
export async function testProvider(
  {
    providerId,
    model,
    entries,
    requestId,
  }: { providerId: string; model: string | undefined; entries: readonly Entry[]; requestId: RequestId },
  {
    provider,
    deploymentHealth,
    clock,
  }: {
    provider: () => Provider
    deploymentHealth: Pick<DeploymentHealth, 'reportSuccess' | 'reportFailure'>
    clock: Clock
  },
): Promise<ProviderTest> {
  const entry = chooseEntry(entries, model, clock.now())
  if (!entry) throw nothingToCall(providerId, model)
  const { deployment } = entry
  const startedMs = clock.monotonicMs()
  const result = (error: ProviderTest['error']): ProviderTest => ({
    ok: error === null,
    provider: providerId,
    deployment: deployment.id,
    model: entry.model.id,
    durationMs: Math.round(clock.monotonicMs() - startedMs),
    error,
  })
  try {
    await callOnce(provider(), entry, requestId)
    deploymentHealth.reportSuccess(
      deployment.id,
      entries.map((one) => one.deployment.id),
    )
    return result(null)
  } catch (error) {
    if (!(error instanceof ProviderError)) {
      return result({ class: 'server_error', status: null, message: describeError(error) })
    }
    const concerned = error.errorClass === 'authentication' ? entries : [entry]
    for (const one of concerned) deploymentHealth.reportFailure(one.deployment.id, error)
    return result({ class: error.errorClass, status: error.status, message: error.message })
  }
}

async function callOnce(provider: Provider, { model, deployment }: Entry, requestId: RequestId): Promise<void> {
  const signal = AbortSignal.timeout(testTimeoutMs)
  const call = { model: deployment.wire, signal, requestId }
  try {
    if (model.kind === 'embedding') await provider.embed?.({ ...call, texts: ['test'], purpose: 'query' })
    else {
      const messages = [{ role: 'user' as const, content: 'Answer with the word OK.' }]
      await provider.complete({ ...call, request: { messages, maxOutputTokens: testOutputTokens } })
    }
  } catch (error) {
    if (!signal.aborted) throw error
    throw new ProviderError('timeout', `The provider did not answer within ${testTimeoutMs / 1000} seconds.`, {
      retryable: false,
      cause: error,
    })
  }
}

/** The selected one; else the cheapest chat model, non-reasoning first; else any. */
function chooseEntry(entries: readonly Entry[], name: string | undefined, nowMs: number): Entry | undefined {
  if (name !== undefined) {
    return entries.find(
      ({ model, deployment }) => model.id === name || deployment.id === name || deployment.wire.id === name,
    )
  }
  const rank = ({ model, deployment }: Entry) =>
    (model.kind === 'chat' ? 0 : 4) + (deployment.wire.reasoning ? 2 : 0) + (model.enabled ? 0 : 1)
  const price = ({ deployment }: Entry) => priceInForce(deployment, nowMs)?.base.output ?? 0n
  return entries.toSorted((left, right) => rank(left) - rank(right) || (price(left) < price(right) ? -1 : 1))[0]
}

function nothingToCall(providerId: string, model: string | undefined): AppError {
  return model === undefined
    ? new AppError(
        'conflict',
        `The provider ${providerId} serves no model yet. Add a deployment, or set its models to snapshot or discovered.`,
      )
    : new AppError('invalid_request', `The provider ${providerId} has no deployment of ${model}.`, { param: 'model' })
}
