import type { MetadataFilter } from '../../contract/metadata-filter.ts'
import type { Receipt } from '../../gateway/billing/index.ts'
import { answer, type AnswerDependencies, prepareAnswer, removeMarkers } from '../chat/index.ts'
import type { NamedDocument } from '../../documents/documents/index.ts'
import type { RequestId } from '../../platform/kernel/index.ts'
import type { Organisation } from '../../tenants/organisations/index.ts'
import type { Space } from '../spaces/index.ts'
import type { GoldenContent } from './golden-question.ts'
import type { GivenAnswer } from './measure-answer.ts'

export interface QuestionCall {
  requestId: RequestId
  organisation: Organisation
  space: Space
  content: GoldenContent
  agentic: boolean
  filter: MetadataFilter | null
  /** Receives a receipt for each call of the model, also of an answer that fails later. */
  receipts: Receipt[]
  signal: AbortSignal
}

/** Most documents of an answer that are kept: an agentic answer can list many. */
const maximumDocuments = 100

/** Answers a question exactly as the published chat does, with inline sources. Throws AppError; what was generated is billed. */
export async function answerQuestion(
  dependencies: AnswerDependencies,
  { requestId, organisation, space, content, agentic, filter, receipts, signal }: QuestionCall,
): Promise<GivenAnswer & { textWithMarkers: string }> {
  const startMs = performance.now()
  const call = {
    requestId,
    organisation,
    space,
    messages: content.messages,
    filter,
    inlineSources: true,
    passageReferences: false,
    agentic,
    // A run repeats its questions, also at night: it must change nothing.
    ownTools: 'reading' as const,
    receipts,
    signal,
  }
  const prepared = await prepareAnswer(dependencies, call)
  let textWithMarkers = ''
  const retrieved = new Map<string, NamedDocument>()
  const cited: NamedDocument[] = []
  for await (const event of answer(dependencies, call, prepared)) {
    if (event.type === 'assistant_write') textWithMarkers += event.delta
    else if (event.type === 'references') {
      cited.push(...event.references.map(({ documentId, title }) => ({ id: documentId, name: title })))
    } else if (event.type === 'message_source') {
      for (const { id, title } of event.search.documents)
        if (retrieved.size < maximumDocuments && !retrieved.has(id)) retrieved.set(id, { id, name: title })
    }
  }
  return {
    text: await removeMarkers(textWithMarkers, signal),
    textWithMarkers,
    retrieved: [...retrieved.values()],
    cited,
    milliseconds: performance.now() - startMs,
  }
}
