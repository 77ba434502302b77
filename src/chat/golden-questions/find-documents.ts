import type { NewGoldenQuestion } from '../../contract/golden-questions.ts'
import type { DocumentNames, NamedDocument } from '../../documents/documents/index.ts'
import type { Space } from '../spaces/index.ts'
import { type GoldenContent, InvalidQuestion } from './golden-question.ts'

type GivenDocument = NewGoldenQuestion['expectedDocuments'][number]

interface FoundDocuments {
  byId: ReadonlyMap<string, NamedDocument>
  /** The newest of each name. */
  byName: ReadonlyMap<string, NamedDocument>
}

const placeOf = ({ organisationId, id }: Space) => ({ organisationId, spaceId: id })

/** Loads the documents of the Space that `pickDocuments` may need for `given`. `known`: documents that may be missing in the Space. */
export async function findDocuments(
  documentNames: DocumentNames,
  space: Space,
  given: readonly GivenDocument[],
  known: readonly NamedDocument[] = [],
): Promise<FoundDocuments> {
  const ids = [...new Set(given.flatMap(({ id }) => (id === undefined ? [] : [id.toLowerCase()])))]
  const names = [...new Set(given.flatMap(({ name }) => (name === undefined ? [] : [name])))]
  const existing = given.length === 0 ? [] : await documentNames.find(placeOf(space), { ids, names })
  // The last entry of a key stays; the newest document comes first.
  const found = [...existing, ...known].toReversed()
  return {
    byId: new Map(found.map((document) => [document.id, document])),
    byName: new Map(found.map((document) => [document.name, document])),
  }
}

/** The documents of one question, each once: by id, else by name. Throws InvalidQuestion for one that does not exist. */
export function pickDocuments({ byId, byName }: FoundDocuments, given: readonly GivenDocument[]): NamedDocument[] {
  const picked = new Map<string, NamedDocument>()
  for (const [index, { id, name }] of given.entries()) {
    const document = (id && byId.get(id.toLowerCase())) || (name && byName.get(name))
    if (!document) {
      const field = `expectedDocuments.${index}.${id === undefined ? 'name' : 'id'}`
      throw new InvalidQuestion({ param: field, words: 'the Space has no such document' })
    }
    picked.set(document.id, document)
  }
  return [...picked.values()]
}

/** The current names of expected documents by id; deleted documents are missing. */
export async function loadCurrentNames(
  documentNames: DocumentNames,
  space: Space,
  questions: readonly GoldenContent[],
): Promise<Map<string, string>> {
  const ids = [...new Set(questions.flatMap(({ expectedDocuments }) => expectedDocuments.map(({ id }) => id)))]
  const found = await documentNames.find(placeOf(space), { ids, names: [] })
  return new Map(found.map(({ id, name }) => [id, name]))
}
