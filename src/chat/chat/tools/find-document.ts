import type { SpaceDocument } from '../../../documents/retrieval/index.ts'
import type { DocumentContext, ToolProblem } from './tool.ts'

/** Candidates that are named where a name is not unique. */
const maximumCandidates = 10
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The document of the Space with this id or name; a part of the name is enough where only one document has it. */
export async function findDocument(
  { dependencies: { documents }, scope, signal }: DocumentContext,
  given: string,
): Promise<SpaceDocument | ToolProblem> {
  if (uuid.test(given)) {
    const byId = await documents.loadDocuments(scope, { id: given, limit: 1 }, signal)
    if (byId.documents[0]) return byId.documents[0]
  }
  // A name that contains many others comes first in the order of names.
  const byName = await documents.loadDocuments(scope, { name: given, limit: 100 }, signal)
  const exact = byName.documents.filter((document) => fold(document.name) === fold(given))
  if (exact.length === 1) return exact[0]!
  if (byName.total === 1) return byName.documents[0]!
  if (byName.total === 0)
    return { problem: 'There is no document with this name or id. list_documents shows all of them.' }
  return {
    problem: 'Several documents match. Use the id of one of them.',
    quoted: (exact.length > 0 ? exact : byName.documents)
      .slice(0, maximumCandidates)
      .map(({ id, name }) => `${id}  ${name}`)
      .join('\n'),
  }
}

const fold = (name: string) => name.normalize('NFC').toLowerCase()
