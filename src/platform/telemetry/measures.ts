import type { Attributes, Histogram, Meter } from '@opentelemetry/api'
import type { OperationAnswer, Peer } from '../kernel/index.ts'
import { attribute, histograms, operationNames, ourSystem } from './conventions.ts'

/** The GenAI metrics. They count every call, sampled or not. */
export interface Measures {
  /** Of one call, seen from its provider's client. `seconds`: from the first attempt. */
  called(call: CallFacts, peer: Peer, seconds: number, errorType: string | undefined): void
  tokens(call: CallFacts, peer: Peer, answer: OperationAnswer): void
  /** Of one call, as Portico's client sees it. */
  served(call: CallFacts, seconds: number, errorType: string | undefined): void
  firstToken(call: CallFacts, seconds: number): void
}

interface CallFacts {
  kind: keyof typeof operationNames
  model: string
}

export function createMeasures(meter: Meter): Measures {
  const make = ({ name, unit, description, bounds }: (typeof histograms)[keyof typeof histograms]): Histogram =>
    meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries: [...bounds] } })
  const clientDuration = make(histograms.clientDuration)
  const tokenUsage = make(histograms.tokenUsage)
  const serverDuration = make(histograms.serverDuration)
  const timeToFirstToken = make(histograms.timeToFirstToken)
  return {
    called(call, peer, seconds, errorType) {
      clientDuration.record(seconds, withError(clientAttributes(call, peer), errorType))
    },
    tokens(call, peer, { wireModel, usage }) {
      const shared = { ...clientAttributes(call, peer), [attribute.responseModel]: wireModel }
      tokenUsage.record(usage.promptTokens, { ...shared, [attribute.tokenType]: 'input' })
      // Embeddings and rerankings generate nothing.
      if (call.kind === 'chat')
        tokenUsage.record(usage.completionTokens, { ...shared, [attribute.tokenType]: 'output' })
    },
    served(call, seconds, errorType) {
      serverDuration.record(seconds, withError(serverAttributes(call), errorType))
    },
    firstToken(call, seconds) {
      timeToFirstToken.record(seconds, serverAttributes(call))
    },
  }
}

function serverAttributes({ kind, model }: CallFacts): Attributes {
  return {
    [attribute.operation]: operationNames[kind],
    [attribute.provider]: ourSystem,
    [attribute.requestModel]: model,
  }
}

function clientAttributes(call: CallFacts, peer: Peer): Attributes {
  return { ...serverAttributes(call), ...peerAttributes(peer) }
}

export function peerAttributes({ system, address, port }: Peer): Attributes {
  return {
    [attribute.provider]: system,
    ...(address !== undefined && { [attribute.serverAddress]: address, [attribute.serverPort]: port }),
  }
}

function withError(attributes: Attributes, errorType: string | undefined): Attributes {
  return errorType === undefined ? attributes : { ...attributes, [attribute.errorType]: errorType }
}
